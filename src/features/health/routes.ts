import { z } from "@hono/zod-openapi";
import type { SystemContext } from "../../context.ts";
import { operation } from "../../http/operation.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { checkHealth } from "./service.ts";

const Health = z
  .object({
    status: z.literal("ok"),
    missing_secrets: z
      .array(z.string())
      .openapi({ description: "The names of required secrets without a value.", example: [] }),
    missing_tables: z
      .array(z.string())
      .openapi({ description: "The names of tables that pending migrations create.", example: [] }),
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
    "Fails with `internal` while a secret or a table is missing, or the database does not respond; " +
    "`cause` states which.",
  credentials: [],
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
