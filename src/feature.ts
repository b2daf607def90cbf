import type { Env as HonoEnv } from "hono";
import type { ChangedKey, SystemContext } from "./context.ts";
import type { OwnedTable } from "./db/ownership.ts";
import type { SealedColumn } from "./db/sealed-column.ts";
import type { ApiKeyEnv, PublicEnv, RunnerEnv } from "./http/envs.ts";
import type { Endpoint } from "./http/router.ts";
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

/** A router, whatever it declares of its responses. */
interface Routes<E extends HonoEnv> {
  readonly endpoints: readonly Endpoint<E>[];
}

/** The manifest of a feature. Its `document.ts` has what only the OpenAPI document needs. */
export interface Feature {
  /** By the credential that opens them. Public routes need none. */
  routes?: {
    apiKey?: readonly Routes<ApiKeyEnv>[];
    runnerToken?: readonly Routes<RunnerEnv>[];
    public?(deps: PublicRouteDeps): readonly Routes<PublicEnv>[];
  };
  tables?: readonly OwnedTable[];
  /** In the order in which key rotation seals them again. */
  sealedColumns?: readonly SealedColumn[];
  /** Runs once a minute. */
  sweep?(ctx: SystemContext): Promise<void>;
}
