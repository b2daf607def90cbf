import type { SystemContext } from "../../../context.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { databaseStatus } from "../../../lib/database-size.ts";
import { findRefusedSettings, REQUIRED_SECRETS } from "../../../lib/settings.ts";
import type { Documented } from "./document.ts";
import { checkHealth } from "./service.ts";

/** Open also while the settings are refused. */
export const HEALTH_PATH = "/health";

const read = operation({
  method: "get",
  path: HEALTH_PATH,
  operationId: "readHealth",
  credentials: [],
});

const HEALTHY = {
  status: "ok" as const,
  missing_secrets: [],
  refused_settings: [],
  missing_tables: [],
};

export function healthRoutes(
  createContext: (
    env: Env,
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => Pick<SystemContext, "ownership">,
) {
  return createRouter<Documented, PublicEnv>().openapi(read, async (c) => {
    const { ownership } = createContext(c.env, c.executionCtx);
    await checkHealth(c.env.DB, {
      missingSecrets: REQUIRED_SECRETS.filter((name) => !c.env[name]),
      refusedSettings: findRefusedSettings(c.env, c.req.url),
      tables: ownership.tableNames(),
    });
    return c.json({ ...HEALTHY, database: databaseStatus() }, 200);
  });
}
