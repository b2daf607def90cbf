import { Hono } from "hono";
import { createMiddlewareDeps } from "./auth/middleware-deps.ts";
import type { CreateSystemContext } from "./context.ts";
import { openForWriting } from "./db/client.ts";
import { runnerDirective } from "./features/deployments/runner-api/directive-header.ts";
import { safeWrites } from "./features/housekeeping/idempotency/middleware.ts";
import { FEATURES } from "./features/index.ts";
import {
  consume,
  type DeliveryMessage,
  Endpoints,
  Hosts,
} from "./features/notifications/delivery/index.ts";
import { PAGE_PATHS, servePage } from "./http/assets.ts";
import { cors } from "./http/cors.ts";
import { lazily } from "./http/lazily.ts";
import { logRequests } from "./http/log-requests.ts";
import { notFound } from "./http/no-route.ts";
import { renderError } from "./http/render-error.ts";
import { type AppEnv, createRequestContext, type MiddlewareDeps } from "./http/request-context.ts";
import { responseHeaders } from "./http/response-headers.ts";
import { requireSafety } from "./http/safe-settings.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { type Fetch, withUserAgent } from "./lib/fetch.ts";
import { consoleLog, describeError, type Log } from "./lib/log.ts";
import { requireSafeSettings } from "./lib/settings.ts";
import { systemContext } from "./system-context.ts";

export interface App {
  fetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response>;
  /** Runs every minute. */
  sweep(env: Env, execution: ExecutionContext): Promise<void>;
  /** Sends the deliveries that are due. */
  queue(batch: MessageBatch<DeliveryMessage>, env: Env, execution: ExecutionContext): Promise<void>;
}

export interface AppOptions {
  clock?: Clock;
  log?: Log;
  /** For deliveries, and for requests to Slack and to the issuers of trusts. */
  fetch?: Fetch;
  /** For the jitter of retries. */
  random?: () => number;
}

/** The app holds the caches of its isolate: create it once. */
export function createApp({
  clock = systemClock,
  log = consoleLog,
  fetch: sendRequest = (url, init) => fetch(url, init),
  random = Math.random,
}: AppOptions = {}): App {
  const network = withUserAgent(sendRequest);
  const deps = { clock, log, fetch: network };
  const createContext: CreateSystemContext = (db, env, execution) =>
    systemContext(db, env, execution, deps);
  const systemContextOf = (env: Env, execution: ExecutionContext) =>
    createContext(openForWriting(env.DB).db, env, execution);

  const app = new Hono<AppEnv>();
  app.use(logRequests, responseHeaders, cors, requireSafety);
  app.use("/v1/runner/*", runnerDirective);
  app.onError(renderError);
  app.notFound(notFound);
  for (const path of PAGE_PATHS) app.all(path, servePage);
  const features = new Hono<AppEnv>();
  for (const routes of FEATURES.flatMap((feature) => feature.routes ?? [])) {
    features.route("/", lazily(routes, deps));
  }
  app.route("/", features);
  features.onError((error) => {
    throw error;
  });
  const ofMiddleware: MiddlewareDeps = {
    ...createMiddlewareDeps({ clock, log, createContext }),
    safeWrites,
    read: async (context, path, reader) => {
      const request = new Request(new URL(path, context.request.url));
      // The log names the route of the request, not the one that is read.
      const bindings = { context: { ...context, request, path, reader, requestLog: {} } };
      return features.fetch(request, bindings, context.execution);
    },
  };

  const webhooks = { endpoints: new Endpoints(), hosts: new Hosts() };
  return {
    fetch: async (request, env, execution) => {
      const context = createRequestContext(request, env, execution, ofMiddleware);
      return app.fetch(request, { context }, execution);
    },
    sweep: async (env, execution) => {
      requireSafeSettings(env, log);
      const ctx = systemContextOf(env, execution);
      const sweeps = await Promise.allSettled(FEATURES.map(({ sweep }) => sweep?.(ctx)));
      const failures = sweeps.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      for (const failure of failures) log("error", "sweep.failed", describeError(failure));
      if (failures.length > 0) throw failures[0];
    },
    queue: async (batch, env, execution) => {
      requireSafeSettings(env, log);
      const ctx = systemContextOf(env, execution);
      const { DELIVERIES: queue, HOST_LIMITER: hostLimiters } = env;
      const waitUntil = (promise: Promise<unknown>) => execution.waitUntil(promise);
      const sending = { fetch: network, random, queue, hostLimiters, ...webhooks, waitUntil };
      return consume({ ...ctx, ...sending }, batch);
    },
  };
}
