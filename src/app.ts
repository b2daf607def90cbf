import { OpenAPIHono } from "@hono/zod-openapi";
import { Dispatcher } from "./auth/dispatcher.ts";
import { apiKeyScheme, runnerTokenScheme, sessionScheme } from "./auth/schemes.ts";
import { openForWriting } from "./db/client.ts";
import type { PublicRouteDeps } from "./feature.ts";
import { HEALTH_PATH } from "./features/health/routes.ts";
import { readIdempotencyKey } from "./features/idempotency/middleware.ts";
import { FEATURES } from "./features/index.ts";
import {
  consume,
  type DeliveryMessage,
  Endpoints,
} from "./features/notifications/delivery/index.ts";
import { describeWebhooks } from "./features/notifications/webhooks.ts";
import { withDirective } from "./features/runner-api/directive-header.ts";
import { looksLikeRunnerToken } from "./features/runner-pools/index.ts";
import { isConsolePath, serveConsole } from "./http/console.ts";
import { isPreflight, preflightResponse, setCorsHeaders } from "./http/cors.ts";
import { readPreconditions, replyNotModified, tagPolled } from "./http/entity-tags.ts";
import { describeApi, type OpenApiDocument } from "./http/openapi.ts";
import {
  createRequestContext,
  handleRequest,
  originOf,
  type RequestContext,
} from "./http/request-pipeline.ts";
import { type FindRoute, RouteIndex } from "./http/route-index.ts";
import {
  type ApiKeyEnv,
  createRouter,
  type PublicEnv,
  type RunnerEnv,
  readBody,
} from "./http/router.ts";
import { mayUseCookie } from "./http/same-origin.ts";
import { hasSessionCookie } from "./http/session-cookie.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import type { Fetch } from "./lib/fetch.ts";
import { CROSS_ORIGIN } from "./lib/header-errors.ts";
import { consoleLog, type Log } from "./lib/log.ts";
import { requireSafeSettings } from "./lib/settings.ts";
import { ClientAddressLimiter, Limiter } from "./rate-limits/index.ts";
import { referenceRoutes } from "./reference/routes.ts";
import { type CreateSystemContext, systemContext } from "./system-context.ts";

export interface App {
  fetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response>;
  /** Runs every minute. */
  sweep(env: Env, execution: ExecutionContext): Promise<void>;
  /** Sends the deliveries that are due. */
  queue(batch: MessageBatch<DeliveryMessage>, env: Env, execution: ExecutionContext): Promise<void>;
  describe(): OpenApiDocument;
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
  fetch: network = (url, init) => fetch(url, init),
  random = Math.random,
}: AppOptions = {}): App {
  const createContext: CreateSystemContext = (db, env, execution) =>
    systemContext(db, env, execution, { clock, log, fetch: network });
  const bindContext: PublicRouteDeps["createContext"] = (env, execution) =>
    createContext(openForWriting(env.DB).db, env, execution);
  const limiter = new Limiter(clock, log);
  const routers = createRouters({
    ...{ clock, log, fetch: network, createContext: bindContext },
    invalidateKeys: (env, keys) => limiter.invalidateKeys(env.RATE_LIMITER, keys),
  });
  const route = createRouteHandler(routers, { clock, log, createContext });
  const endpoints = new Endpoints();
  return {
    describe: routers.describe,
    fetch: async (request, env, execution) => {
      const context = createRequestContext(request, env, execution);
      const response = await handleRequest(context, log, route);
      setCorsHeaders(response.headers, context, routers.routes);
      return response;
    },
    sweep: async (env, execution) => {
      requireSafeSettings(env, log);
      const ctx = bindContext(env, execution);
      const sweeps = await Promise.allSettled(FEATURES.map(({ sweep }) => sweep?.(ctx)));
      const failed = sweeps.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
    queue: async (batch, env, execution) => {
      requireSafeSettings(env, log);
      const ctx = bindContext(env, execution);
      const { DELIVERIES: queue } = env;
      const waitUntil = (promise: Promise<unknown>) => execution.waitUntil(promise);
      const sending = { fetch: network, random, queue, endpoints, waitUntil };
      return consume({ ...ctx, ...sending }, batch);
    },
  };
}

function createRouters(deps: PublicRouteDeps) {
  const all = new OpenAPIHono();
  const describe = () =>
    describeApi(
      all,
      FEATURES.flatMap(({ tags = [] }) => tags),
    );
  const findRoute: FindRoute = (method, path) => routes.find(method, path);
  const publicRouter = createPublicRouter(deps, describe);
  const apiKeyRouter = createApiKeyRouter(findRoute);
  const runnerRouter = createRunnerRouter(findRoute);
  all.route("/", publicRouter).route("/", apiKeyRouter).route("/", runnerRouter);
  describeWebhooks(all.openAPIRegistry);
  const routes = new RouteIndex(all.openAPIRegistry.definitions);
  return { publicRouter, apiKeyRouter, runnerRouter, routes, describe };
}

function createRouteHandler(
  { publicRouter, apiKeyRouter, runnerRouter, routes }: ReturnType<typeof createRouters>,
  { clock, log, createContext }: { clock: Clock; log: Log; createContext: CreateSystemContext },
) {
  const addressLimiter = new ClientAddressLimiter(clock, log);
  const deps = { routes, addressLimiter, clock, log, createContext };
  const apiKeyDispatcher = new Dispatcher(apiKeyScheme(apiKeyRouter), deps);
  const sessionDispatcher = new Dispatcher(sessionScheme(apiKeyRouter), deps);
  const runnerDispatcher = new Dispatcher(runnerTokenScheme(runnerRouter), deps);
  return async (context: RequestContext): Promise<Response> => {
    const { requestId, request, env, execution, path, requestLog } = context;
    const route = routes.find(request.method, path);
    if (route) requestLog.route = route.path;
    if (route?.path !== HEALTH_PATH) {
      requireSafeSettings(env, log, { requestUrl: request.url, requestId });
    }
    if (isPreflight(context, routes)) {
      await addressLimiter.enforce(context);
      return preflightResponse();
    }
    if (path.startsWith("/v1/runner/")) {
      return withDirective(context, runnerDispatcher.handle(context, route));
    }
    if (route?.acceptsRunnerToken && looksLikeRunnerToken(request.headers.get("x-api-key"))) {
      return runnerDispatcher.handle(context, route);
    }
    if (path.startsWith("/v1/") && !route?.isPublic) {
      const usesCookie = !request.headers.has("x-api-key") && hasSessionCookie(request);
      if (usesCookie && !mayUseCookie(request, route?.writes === true)) {
        await addressLimiter.enforce(context);
        throw CROSS_ORIGIN;
      }
      const needsSession = usesCookie || route?.needsSession === true;
      return (needsSession ? sessionDispatcher : apiKeyDispatcher).handle(context, route);
    }
    await addressLimiter.enforce(context);
    if (isConsolePath(path)) return serveConsole(request, path, env.CONSOLE);
    if (!route) throw routes.noRouteError(request.method, path);
    return publicRouter.fetch(request, { ...env, origin: originOf(context) }, execution);
  };
}

function createPublicRouter(deps: PublicRouteDeps, describe: () => OpenApiDocument) {
  const router = createRouter<PublicEnv>();
  router.onError(rethrow);
  for (const { routes } of FEATURES) {
    if (routes?.public) router.route("/", routes.public(deps));
  }
  return router.route("/", referenceRoutes(describe));
}

function createApiKeyRouter(findRoute: FindRoute) {
  const router = createRouter<ApiKeyEnv>();
  router.on(["POST", "PUT", "PATCH"], "*", readBody(findRoute));
  router.on(["POST", "PUT", "PATCH", "DELETE"], "*", readPreconditions(findRoute));
  router.on(["POST", "PATCH"], "*", readIdempotencyKey(findRoute, router.fetch));
  router.get("*", replyNotModified, tagPolled(findRoute));
  router.onError(rethrow);
  const routers = FEATURES.flatMap(({ routes }) => routes?.apiKey ?? []);
  for (const each of routers) router.route("/", each);
  return router;
}

function createRunnerRouter(findRoute: FindRoute) {
  const router = createRouter<RunnerEnv>();
  router.on(["POST", "PUT", "PATCH"], "*", readBody(findRoute));
  router.onError(rethrow);
  const routers = FEATURES.flatMap(({ routes }) => routes?.runnerToken ?? []);
  for (const each of routers) router.route("/", each);
  return router;
}

/** `handleRequest` renders the errors of all routers. */
function rethrow(error: Error): never {
  throw error;
}
