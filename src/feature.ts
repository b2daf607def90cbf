import type { OpenAPIHono } from "@hono/zod-openapi";
import type { SystemContext } from "./context.ts";
import type { OwnedTable } from "./db/ownership.ts";
import type { Open, Protected, ProtectedForRunners } from "./http/router.ts";
import type { SealedColumn } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import type { Fetch } from "./lib/fetch.ts";

/** A tag of the OpenAPI document. */
export interface Tag {
  name: string;
  description: string;
}

/** The dependencies of open routes, which have no service context. */
export interface OpenRouteDeps {
  clock: Clock;
  fetch: Fetch;
  createContext(env: Env, execution: Pick<ExecutionContext, "waitUntil">): SystemContext;
}

/** The manifest of a feature. */
export interface Feature {
  tags?: readonly Tag[];
  /** Routes by the credential that they require. Open routes require none. */
  routes?: {
    apiKey?: readonly OpenAPIHono<Protected>[];
    runnerToken?: readonly OpenAPIHono<ProtectedForRunners>[];
    open?(deps: OpenRouteDeps): OpenAPIHono<Open>;
  };
  tables?: readonly OwnedTable[];
  /** In the order in which key rotation seals them again. */
  sealedColumns?: readonly SealedColumn[];
  /** Runs once a minute. */
  sweep?(ctx: SystemContext): Promise<void>;
}
