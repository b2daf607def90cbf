import { z } from "@hono/zod-openapi";
import { operation } from "../../http/operation.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { checkHealth } from "./service.ts";

const Health = z
  .object({
    status: z.literal("ok"),
    missing_secrets: z.array(z.string()).openapi({ description: "By name.", example: [] }),
    database: z.literal("ok").openapi({ description: "Whether the database responds." }),
  })
  .openapi("Health");

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
  responses: { 200: jsonReply(Health, "The service works.") },
});

const HEALTHY = { status: "ok", database: "ok" } as const;

export const healthRoutes = createRouter<PublicEnv>().openapi(read, async (c) => {
  const { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET } = c.env;
  await checkHealth(c.env.DB, { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET });
  return c.json({ ...HEALTHY, missing_secrets: [] }, 200);
});
