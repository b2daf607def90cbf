import { createRoute, z } from "@hono/zod-openapi";
import type { Framed } from "../../http/frame.ts";
import { ERROR_REPLIES, jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { checkHealth } from "./service.ts";

const Health = z.object({ status: z.literal("ok") }).openapi("Health");

const read = createRoute({
  method: "get",
  path: "/health",
  operationId: "readHealth",
  tags: ["Service"],
  summary: "Read whether the service works",
  description:
    "Fails with `internal` while a secret is missing or the database does not answer; `cause` " +
    "then says which.",
  security: [],
  responses: { 200: jsonReply(Health, "All is well."), ...ERROR_REPLIES },
});

export const healthRoutes = createRouter<Framed>().openapi(read, async (c) => {
  const { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS } = c.env;
  await checkHealth(c.env.DB, { BOOTSTRAP_TOKEN, ENCRYPTION_KEYS });
  return c.json({ status: "ok" } as const, 200);
});
