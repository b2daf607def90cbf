import { createRoute, z } from "@hono/zod-openapi";
import { ERROR_REPLIES, jsonReply } from "../../http/replies.ts";
import { createRouter, type Open } from "../../http/router.ts";
import { checkHealth } from "./service.ts";

const Health = z
  .object({
    status: z.literal("ok"),
    missing_secrets: z
      .array(z.string())
      .openapi({ description: "The names of the missing secrets.", example: [] }),
    database: z.literal("ok").openapi({ description: "Whether the database responds." }),
  })
  .openapi("Health");

const read = createRoute({
  method: "get",
  path: "/health",
  operationId: "readHealth",
  tags: ["Service"],
  summary: "Check the health of the service",
  description:
    "Fails with `internal` while a secret is missing or the database does not respond; `cause` " +
    "then states which.",
  security: [],
  responses: { 200: jsonReply(Health, "The service is healthy."), ...ERROR_REPLIES },
});

const HEALTHY = { status: "ok", database: "ok" } as const;

export const healthRoutes = createRouter<Open>().openapi(read, async (c) => {
  const { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET } = c.env;
  await checkHealth(c.env.DB, { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS, LEASE_SECRET });
  return c.json({ ...HEALTHY, missing_secrets: [] }, 200);
});
