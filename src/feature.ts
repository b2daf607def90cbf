import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ChangedKey, SystemContext } from "./context.ts";
import type { OwnedTable } from "./db/ownership.ts";
import type { SealedColumn } from "./db/sealed-column.ts";
import type { LimitedKind } from "./features/usage/model.ts";
import type { Tag } from "./http/openapi.ts";
import type { ApiKeyEnv, PublicEnv, RunnerEnv } from "./http/router.ts";
import type { Clock } from "./lib/clock.ts";
import type { Fetch } from "./lib/fetch.ts";
import type { Log } from "./lib/log.ts";

/** What public routes are created with: they have no service context. */
export interface PublicRouteDeps {
  clock: Clock;
  fetch: Fetch;
  log: Log;
  createContext(env: Env, execution: Pick<ExecutionContext, "waitUntil">): SystemContext;
  /** Makes every isolate read these keys from the database again, instead of from its cache. */
  invalidateKeys(env: Env, keys: readonly ChangedKey[]): Promise<void>;
}

/** The manifest of a feature. */
export interface Feature {
  tags?: readonly Tag[];
  /** By the credential that opens them. Public routes need none. */
  routes?: {
    apiKey?: readonly OpenAPIHono<ApiKeyEnv>[];
    runnerToken?: readonly OpenAPIHono<RunnerEnv>[];
    public?(deps: PublicRouteDeps): OpenAPIHono<PublicEnv>;
  };
  tables?: readonly OwnedTable[];
  /** The maximum number of records of an organization, by kind. */
  quotas?: { readonly [Kind in LimitedKind]?: number };
  /** In the order in which key rotation seals them again. */
  sealedColumns?: readonly SealedColumn[];
  /** Runs once a minute. */
  sweep?(ctx: SystemContext): Promise<void>;
}
