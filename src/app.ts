import { Dispatcher } from "./auth/dispatcher.ts";
import { apiKeyScheme, runnerTokenScheme, sessionScheme } from "./auth/schemes.ts";
import { openForWriting } from "./db/client.ts";
import type { PublicRouteDeps } from "./feature.ts";
import { withDirective } from "./features/deployments/runner-api/directive-header.ts";
import { HEALTH_PATH } from "./features/housekeeping/health/routes.ts";
import {
  isIdempotent,
  type ReadResource,
  readIdempotencyKey,
} from "./features/housekeeping/idempotency/middleware.ts";
import { looksLikeRunnerToken } from "./features/identity/runner-tokens/index.ts";
import { FEATURES } from "./features/index.ts";
import {
  consume,
  type DeliveryMessage,
  Hosts,
  Endpoints as WebhookEndpoints,
} from "./features/notifications/delivery/index.ts";
import { isPagePath, servePage } from "./http/assets.ts";
import { isPreflight, preflightResponse, setCorsHeaders } from "./http/cors.ts";
import { readPreconditions, replyNotModified, tagPolled } from "./http/entity-tags.ts";
import type { Operation } from "./http/operation.ts";
import { readersOf } from "./http/read-body.ts";
import {
  createRequestContext,
  handleRequest,
  originOf,
  type RequestContext,
} from "./http/request-pipeline.ts";
import { type Endpoints, RouteIndex, toRoutes } from "./http/route-index.ts";
import { mayUseCookie } from "./http/same-origin.ts";
import { hasSessionCookie } from "./http/session-cookie.ts";
import { type Clock, stoppedClock, systemClock } from "./lib/clock.ts";
import { type Fetch, withUserAgent } from "./lib/fetch.ts";
import { CROSS_ORIGIN } from "./lib/header-errors.ts";
import { consoleLog, describeError, type Log } from "./lib/log.ts";
import { requireSafeSettings } from "./lib/settings.ts";
import { ClientAddressLimiter, DatabasePace, Limiter } from "./rate-limits/index.ts";
import { type CreateSystemContext, systemContext } from "./system-context.ts";

export interface App {
  fetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response>;
  /** Runs every minute. */
  sweep(env: Env, execution: ExecutionContext): Promise<void>;
  /** Sends the deliveries that are due. */
  queue(batch: MessageBatch<DeliveryMessage>, env: Env, execution: ExecutionContext): Promise<void>;
  /** In the order of the OpenAPI document. */
  operations: readonly Operation[];
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
  const createContext: CreateSystemContext = (db, env, execution) =>
    systemContext(db, env, execution, { clock, log, fetch: network });
  const bindContext: PublicRouteDeps["createContext"] = (env, execution) =>
    createContext(openForWriting(env.DB).db, env, execution);
  const bindRequest: PublicRouteDeps["createContext"] = (env, execution) => ({
    ...bindContext(env, execution),
    clock: stoppedClock(clock),
  });
  const limiter = new Limiter(clock, log);
  const endpoints = listEndpoints({
    ...{ clock, log, fetch: network, createContext: bindRequest },
    invalidateKeys: (env, keys) => limiter.invalidateKeys(env.RATE_LIMITER, keys),
  });
  const routes = createRouteIndex(endpoints);
  const route = createRouteHandler(routes, { clock, log, createContext });
  const webhooks = { endpoints: new WebhookEndpoints(), hosts: new Hosts() };
  return {
    operations: Object.values(endpoints).flatMap((each: Endpoints[keyof Endpoints]) =>
      each.map(({ operation }) => operation),
    ),
    fetch: async (request, env, execution) => {
      const context = createRequestContext(request, env, execution);
      const response = await handleRequest(context, { clock, log }, route);
      setCorsHeaders(response.headers, context, routes);
      return response;
    },
    sweep: async (env, execution) => {
      requireSafeSettings(env, log);
      const ctx = bindContext(env, execution);
      const sweeps = await Promise.allSettled(FEATURES.map(({ sweep }) => sweep?.(ctx)));
      const failures = sweeps.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
      for (const failure of failures) log("error", "sweep.failed", describeError(failure));
      if (failures.length > 0) throw failures[0];
    },
    queue: async (batch, env, execution) => {
      requireSafeSettings(env, log);
      const ctx = bindContext(env, execution);
      const { DELIVERIES: queue, HOST_LIMITER: hostLimiters } = env;
      const waitUntil = (promise: Promise<unknown>) => execution.waitUntil(promise);
      const sending = { fetch: network, random, queue, hostLimiters, ...webhooks, waitUntil };
      return consume({ ...ctx, ...sending }, batch);
    },
  };
}

function listEndpoints(deps: PublicRouteDeps): Endpoints {
  const routes = FEATURES.flatMap((feature) => feature.routes ?? []);
  return {
    public: routes.flatMap(
      (each) => each.public?.(deps).flatMap(({ endpoints }) => endpoints) ?? [],
    ),
    apiKey: routes.flatMap(({ apiKey = [] }) => apiKey.flatMap(({ endpoints }) => endpoints)),
    runnerToken: routes.flatMap(({ runnerToken = [] }) =>
      runnerToken.flatMap(({ endpoints }) => endpoints),
    ),
  };
}

function createRouteIndex(endpoints: Endpoints): RouteIndex {
  const read: ReadResource = (request, ctx, execution) => {
    const matched = index.match(request.method, new URL(request.url).pathname);
    if (!matched?.route.apiKey) return new Response(null, { status: 404 });
    return matched.route.apiKey(request, ctx, execution, matched);
  };
  const apiKey = (operation: Operation) => [
    ...readersOf(operation),
    ...(operation.method === "get" ? [] : [readPreconditions(operation)]),
    ...(isIdempotent(operation) ? [readIdempotencyKey(operation, read)] : []),
    ...(operation.resource || operation.polled ? [replyNotModified] : []),
    ...(operation.polled ? [tagPolled] : []),
  ];
  const index = new RouteIndex(toRoutes(endpoints, { apiKey, runnerToken: readersOf }));
  return index;
}

function createRouteHandler(
  routes: RouteIndex,
  { clock, log, createContext }: { clock: Clock; log: Log; createContext: CreateSystemContext },
) {
  const addressLimiter = new ClientAddressLimiter(clock, log);
  const deps = { routes, addressLimiter, pace: new DatabasePace(), clock, log, createContext };
  const apiKeyDispatcher = new Dispatcher(apiKeyScheme, deps);
  const sessionDispatcher = new Dispatcher(sessionScheme, deps);
  const runnerDispatcher = new Dispatcher(runnerTokenScheme, deps);
  return async (context: RequestContext): Promise<Response> => {
    const { requestId, request, env, execution, path, requestLog } = context;
    const matched = routes.match(request.method, path);
    const route = matched?.route;
    if (route) requestLog.route = route.path;
    if (route?.path !== HEALTH_PATH) {
      requireSafeSettings(env, log, { requestUrl: request.url, requestId });
    }
    if (isPreflight(context, routes)) {
      await addressLimiter.enforce(context);
      return preflightResponse();
    }
    if (path.startsWith("/v1/runner/")) {
      return withDirective(context, runnerDispatcher.handle(context, matched));
    }
    if (route?.acceptsRunnerToken && looksLikeRunnerToken(request.headers.get("x-api-key"))) {
      return await runnerDispatcher.handle(context, matched);
    }
    if (path.startsWith("/v1/") && !route?.isPublic) {
      const usesCookie = !request.headers.has("x-api-key") && hasSessionCookie(request);
      if (usesCookie && !mayUseCookie(request, route?.writes === true)) {
        await addressLimiter.enforce(context);
        throw CROSS_ORIGIN;
      }
      const needsSession = usesCookie || route?.needsSession === true;
      return await (needsSession ? sessionDispatcher : apiKeyDispatcher).handle(context, matched);
    }
    await addressLimiter.enforce(context);
    if (isPagePath(path)) return servePage(context);
    if (!matched?.route.public) throw routes.noRouteError(request.method, path);
    const bindings = { ...env, origin: originOf(context) };
    return matched.route.public(request, bindings, execution, matched);
  };
}
