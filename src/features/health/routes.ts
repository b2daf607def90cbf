import { z } from "@hono/zod-openapi";
import type { SystemContext } from "../../context.ts";
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
      missing_tables: z.array(z.string()).openapi({
        description:
          "The tables that pending migrations create, by name: none, if the service works.",
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
    "Fails with `internal` while a secret or a table is missing, or the database does not respond; " +
    "`cause` states which.",
  credentials: [],
  errors: {
    unhealthy: new ApiError("internal", "The deployment is incomplete; see cause.", {
      cause: {
        request_id: "5f0c8a52-6f0e-4a53-9d0f-3f8e0f6d2b17",
        missing_secrets: ["LEASE_SECRET"],
        missing_tables: [],
        database: "ok",
      },
    }),
  },
  responses: { 200: jsonReply(Health, "The service works.") },
});

const HEALTHY = { status: "ok", database: "ok" } as const;

export function healthRoutes(
  createContext: (
    env: Env,
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => Pick<SystemContext, "ownership">,
) {
  return createRouter<PublicEnv>().openapi(read, async (c) => {
    const { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET } = c.env;
    const { ownership } = createContext(c.env, c.executionCtx);
    await checkHealth(c.env.DB, {
      secrets: { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET },
      tables: ownership.tableNames(),
    });
    return c.json({ ...HEALTHY, missing_secrets: [], missing_tables: [] }, 200);
  });
}
