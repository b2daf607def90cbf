import { Hono } from "hono";
import type { Clock } from "../lib/clock.ts";
import type { Fetch } from "../lib/fetch.ts";
import type { Log } from "../lib/log.ts";
import { noRoute } from "./no-route.ts";
import type { AppEnv } from "./request-context.ts";
import type { AnyRouter } from "./router.ts";

/** What outlives a request: clients of other services cache what those say. */
export interface RouteDeps {
  clock: Clock;
  fetch: Fetch;
  log: Log;
}

/** Routes that are loaded together. */
export interface LazyRoutes {
  /** Their patterns, as Hono writes them. No other routes have the same. */
  paths: readonly string[];
  load(deps: RouteDeps): Promise<AnyRouter>;
}

/**
 * Hands requests to routes that are loaded at the first of them, because building the schemas of all would delay
 * every start of the Worker. They are an app of their own, because Hono's routers take no route after their first match.
 */
export function lazily({ paths, load }: LazyRoutes, deps: RouteDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  let loaded: Promise<AnyRouter> | undefined;
  const start = async () => {
    const router = await load(deps);
    router.notFound(noRoute(router));
    return router;
  };
  for (const path of paths) {
    app.all(path, async (c) => {
      loaded ??= start();
      try {
        return await (await loaded).fetch(c.req.raw, c.env, c.executionCtx);
      } catch (error) {
        // Hono renders nothing else.
        throw error instanceof Error ? error : new Error("No error was thrown", { cause: error });
      }
    });
  }
  return app;
}
