import { OpenAPIHono } from "@hono/zod-openapi";
import { getPath } from "hono/utils/url";
import { Dispatcher, refuseRoute } from "./auth/dispatcher.ts";
import { apiKeyScheme, runnerTokenScheme } from "./auth/schemes.ts";
import { type Database, openForWriting } from "./db/client.ts";
import { alarmRoutes, alarmRoutesForRunners } from "./features/alarms/routes.ts";
import { apiKeyRoutes } from "./features/api-keys/routes.ts";
import { bootstrapRoutes } from "./features/bootstrap/routes.ts";
import { changelogRoutes } from "./features/changelog/routes.ts";
import { componentRoutes } from "./features/components/routes.ts";
import { deploymentRoutes } from "./features/deployments/routes.ts";
import { scopedDeploymentRoutes } from "./features/deployments/scoped-routes.ts";
import { sweepDeployments } from "./features/deployments/service.ts";
import { environmentRoutes } from "./features/environments/routes.ts";
import { healthRoutes } from "./features/health/routes.ts";
import { membershipRoutes } from "./features/memberships/routes.ts";
import { consume } from "./features/notifications/delivery/consumer.ts";
import { handleDeadLetters } from "./features/notifications/delivery/dead-letters.ts";
import type { DeliveryMessage } from "./features/notifications/delivery/index.ts";
import { deliveryRoutes } from "./features/notifications/delivery/routes.ts";
import { Patience } from "./features/notifications/delivery/slow-endpoints.ts";
import { sweepDeliveries } from "./features/notifications/delivery/sweep.ts";
import { integrationRoutes } from "./features/notifications/integrations/routes.ts";
import { slackSettingsOf } from "./features/notifications/slack/index.ts";
import { slackCallbackRoutes, slackRoutes } from "./features/notifications/slack/routes.ts";
import { describeWebhooks } from "./features/notifications/webhooks.ts";
import { organizationRoutes } from "./features/organizations/routes.ts";
import { projectMemberRoutes } from "./features/project-members/routes.ts";
import { connectionRoutes } from "./features/projects/connections/routes.ts";
import { projectRoutes } from "./features/projects/routes.ts";
import { resourceRoutes } from "./features/resources/routes.ts";
import { withDirective } from "./features/runner-api/directive-header.ts";
import { runnerRoutes } from "./features/runner-api/routes.ts";
import { seemsRunnerToken } from "./features/runner-pools/index.ts";
import { runnerPoolRoutes } from "./features/runner-pools/routes.ts";
import { stackRoutes } from "./features/stacks/routes.ts";
import { usageRoutes } from "./features/usage/routes.ts";
import { variableRoutes } from "./features/variables/routes.ts";
import { scopedVariableRoutes } from "./features/variables/scoped-routes.ts";
import { describeApi, type OpenApiDocument } from "./http/openapi.ts";
import { type Call, frame } from "./http/request-pipeline.ts";
import { Operations } from "./http/route-index.ts";
import {
  createRouter,
  type Open,
  type Protected,
  type ProtectedForRunners,
  type RequiresBody,
  readJsonBody,
} from "./http/router.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { consoleLog, type Log } from "./lib/log.ts";
import type { Fetch } from "./lib/network.ts";
import { ClientAddressLimiter, POLICIES } from "./rate-limits/index.ts";
import { referenceRoutes } from "./reference/routes.ts";
import { systemContext } from "./system-context.ts";

export interface App {
  fetch(request: Request, env: Env, execution: ExecutionContext): Promise<Response>;
  /** Ends what nobody ends, and rings for what is overdue; the schedule calls it each minute. */
  sweep(env: Env, execution: ExecutionContext): Promise<void>;
  /** Sends the deliveries that the queue names, or fails those that could not be handled. */
  queue(batch: MessageBatch<DeliveryMessage>, env: Env, execution: ExecutionContext): Promise<void>;
  describe(): OpenApiDocument;
}

/** The whole service as one request handler. What an isolate remembers of keys lives in it. */
export function createApp({
  clock = systemClock,
  log = consoleLog,
  fetch: network = (url, init) => fetch(url, init),
  random = Math.random,
}: {
  clock?: Clock;
  log?: Log;
  /** What deliveries are sent by, and Slack is asked by. */
  fetch?: Fetch;
  /** What spreads what failed together. */
  random?: () => number;
} = {}): App {
  const described = new OpenAPIHono();
  const describe = () => describeApi(described, POLICIES);
  const open = createOpenRouter({ clock, log, network }, describe);
  const requiresBody: RequiresBody = (method, path) =>
    operations.find(method, path)?.requiresBody === true;
  const protectedRouter = createProtectedRouter(requiresBody);
  const runnerRouter = createRunnerRouter(requiresBody);
  described.route("/", open).route("/", protectedRouter).route("/", runnerRouter);
  describeWebhooks(described.openAPIRegistry);
  const operations = new Operations(described.openAPIRegistry.definitions);
  const addressLimiter = new ClientAddressLimiter(clock, log);
  const patience = new Patience();
  const createContext = (db: Database, env: Env, execution: ExecutionContext) =>
    systemContext(db, env, execution, { clock, log });
  const surroundings = { operations, addressLimiter, clock, log, createContext };
  const people = new Dispatcher(apiKeyScheme(protectedRouter), surroundings);
  const runners = new Dispatcher(runnerTokenScheme(runnerRouter), surroundings);

  const handle = async (call: Call): Promise<Response> => {
    const { request, env, execution, path, trace } = call;
    const operation = operations.find(request.method, path);
    if (operation) trace.route = operation.path;
    if (path.startsWith("/v1/runner/")) return withDirective(call, runners.handle(call, operation));
    const isRunners = operation?.forRunners && seemsRunnerToken(request.headers.get("x-api-key"));
    if (isRunners) return runners.handle(call, operation);
    if (path.startsWith("/v1/") && !operation?.open) return people.handle(call, operation);
    await addressLimiter.enforce(call);
    return operation ? open.fetch(request, env, execution) : refuseRoute(operations, call);
  };
  return {
    describe,
    sweep: async (env, execution) => {
      const { db } = openForWriting(env.DB);
      const ctx = systemContext(db, env, execution, { clock, log });
      const sweeps = await Promise.allSettled([sweepDeployments(ctx), sweepDeliveries(ctx)]);
      const failed = sweeps.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    },
    queue: (batch, env, execution) => {
      const { db } = openForWriting(env.DB);
      const ctx = systemContext(db, env, execution, { clock, log });
      if (batch.queue.endsWith("-dead")) return handleDeadLetters(ctx, batch);
      const { DELIVERIES: queue } = env;
      const waitUntil = (promise: Promise<unknown>) => execution.waitUntil(promise);
      const sending = { fetch: network, random, queue, patience, waitUntil };
      return consume({ ...ctx, ...sending }, batch);
    },
    fetch: (request, env, execution) => {
      const trace = { requestId: crypto.randomUUID(), headers: {} };
      return frame({ request, env, execution, path: getPath(request), trace }, log, handle);
    },
  };
}

/** The routes that need no API key. */
function createOpenRouter(
  { clock, log, network }: { clock: Clock; log: Log; network: Fetch },
  describe: () => OpenApiDocument,
) {
  const router = createRouter<Open>();
  router.onError(rethrow);
  const bindToSlack = (env: Env, execution: Pick<ExecutionContext, "waitUntil">) => {
    const { db } = openForWriting(env.DB);
    const ctx = systemContext(db, env, execution, { clock, log });
    return { ...ctx, fetch: network, slack: slackSettingsOf(env) };
  };
  return router
    .route("/", bootstrapRoutes(clock))
    .route("/", healthRoutes)
    .route("/", slackCallbackRoutes(bindToSlack))
    .route("/", referenceRoutes(describe));
}

/** The routes behind the gate. */
function createProtectedRouter(requiresBody: RequiresBody) {
  const router = createRouter<Protected>();
  router.on(["POST", "PUT", "PATCH"], "*", readJsonBody(requiresBody));
  router.onError(rethrow);
  return router
    .route("/", organizationRoutes)
    .route("/", usageRoutes)
    .route("/", membershipRoutes)
    .route("/", apiKeyRoutes)
    .route("/", runnerPoolRoutes)
    .route("/", projectRoutes)
    .route("/", connectionRoutes)
    .route("/", projectMemberRoutes)
    .route("/", changelogRoutes)
    .route("/", environmentRoutes)
    .route("/", componentRoutes)
    .route("/", stackRoutes)
    .route("/", alarmRoutes)
    .route("/", deploymentRoutes)
    .route("/", scopedDeploymentRoutes)
    .route("/", resourceRoutes)
    .route("/", variableRoutes)
    .route("/", scopedVariableRoutes)
    .route("/", integrationRoutes)
    .route("/", deliveryRoutes)
    .route("/", slackRoutes);
}

/** The routes of runners, behind a gate of their own. */
function createRunnerRouter(requiresBody: RequiresBody) {
  const router = createRouter<ProtectedForRunners>();
  router.on(["POST", "PUT", "PATCH"], "*", readJsonBody(requiresBody));
  router.onError(rethrow);
  return router.route("/", runnerRoutes).route("/", alarmRoutesForRunners);
}

/** The errors of every route are told in one place, the frame. */
function rethrow(error: Error): never {
  throw error;
}
