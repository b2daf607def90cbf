import { z } from "@hono/zod-openapi";
import { operation } from "../../http/operation.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { ApiError } from "../../lib/errors.ts";
import { component } from "../../lib/schemas.ts";
import { checkHealth } from "./service.ts";

const Health = component(
  "Health",
  z
    .object({
      status: z.literal("ok").openapi({ description: "Every check has passed." }),
      missing_secrets: z.array(z.string()).openapi({
        description: "The secrets that are not set, by name: none, if the service works.",
        example: [],
      }),
      database: z.literal("ok").openapi({ description: "Whether the database responds." }),
    })
    .openapi({ description: "The state of the service while it works." }),
);

const read = operation({
  method: "get",
  path: "/health",
  operationId: "readHealth",
  tags: ["Service"],
  summary: "Read whether the service works",
  description:
    "Fails with `internal` while a secret is missing or the database does not respond; `cause` " +
    "states which.",
  credentials: [],
  errors: {
    unhealthy: new ApiError("internal", "The deployment is incomplete; see cause.", {
      cause: {
        request_id: "5f0c8a52-6f0e-4a53-9d0f-3f8e0f6d2b17",
        missing_secrets: ["LEASE_SECRET"],
        database: "ok",
      },
    }),
  },
  responses: { 200: jsonReply(Health, "The service works.") },
});

const HEALTHY = { status: "ok", database: "ok" } as const;

export const healthRoutes = createRouter<PublicEnv>().openapi(read, async (c) => {
  const { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET } = c.env;
  await checkHealth(c.env.DB, { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET });
  return c.json({ ...HEALTHY, missing_secrets: [] }, 200);
});
