import type { MiddlewareHandler } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { type ApiError, MethodNotImplemented, NotFound } from "../lib/errors.ts";
import { lazy } from "../lib/lazy.ts";
import type { Scope } from "../lib/scopes.ts";
import type { PolicyName } from "../rate-limits/policies.ts";
import type { ApiKeyEnv, PublicEnv, RunnerEnv } from "./envs.ts";
import { type Credential, credentialsOf, type Operation } from "./operation.ts";
import type { CallRoute, Endpoint, MatchedPath } from "./router.ts";

/** By the credential that opens a route. */
interface RouteCalls {
  public?: CallRoute<PublicEnv["Bindings"]>;
  apiKey?: CallRoute<ApiKeyEnv["Bindings"]>;
  runnerToken?: CallRoute<RunnerEnv["Bindings"]>;
}

export interface IndexedRoute extends RouteCalls {
  method: string;
  /** As in the OpenAPI document: `/v1/projects/{project_id}`. */
  path: string;
  policy: PolicyName | undefined;
  /** Whether the route writes although its method is GET. */
  writes: boolean;
  /** Whether the budget of the organization does not refuse it. */
  exemptFromBudget: boolean;
  /** What a narrowed API key needs. Undefined: nothing. */
  scope: Scope | undefined;
  isPublic: boolean;
  /** Whether an API key does not open the route. */
  needsSession: boolean;
  acceptsRunnerToken: boolean;
  /** Whether the response is a page of HTML. */
  isPage: boolean;
}

export interface MatchedRoute extends MatchedPath {
  route: IndexedRoute;
}

/** By the credential that opens them. */
export interface Endpoints {
  public: readonly Endpoint<PublicEnv>[];
  apiKey: readonly Endpoint<ApiKeyEnv>[];
  runnerToken: readonly Endpoint<RunnerEnv>[];
}

type MiddlewareOf = (operation: Operation) => readonly MiddlewareHandler[];

/** What runs before the handler of an operation. */
interface MiddlewareByCredential {
  apiKey: MiddlewareOf;
  runnerToken: MiddlewareOf;
}

/**
 * Finds the route of a request. A path without parameters takes precedence over one with them, and is not
 * in Hono's router, which refuses the one beside the other.
 */
export class RouteIndex {
  readonly #fixed = new Map<string, IndexedRoute>();
  /** By the start of the path: each match of one router of all routes would fill hundreds of groups. */
  readonly #routers = new Map<string, RegExpRouter<IndexedRoute>>();
  readonly #methods = new Set<string>();

  constructor(routes: Iterable<IndexedRoute>) {
    for (const route of routes) {
      const { method, path } = route;
      this.#methods.add(method);
      if (path.includes("{")) this.#addWithParameters(route);
      else this.#fixed.set(`${method} ${path}`, route);
    }
  }

  /** A HEAD request uses the GET route. */
  match(method: string, path: string): MatchedRoute | undefined {
    const effective = method === "HEAD" ? "GET" : method;
    const fixed = this.#fixed.get(`${effective} ${path}`);
    if (fixed) return { route: fixed, path, params: {} };
    const [[found] = [], values] = this.#routers.get(prefixOf(path))?.match(effective, path) ?? [];
    if (!found) return undefined;
    const [route, positions] = found;
    const params: Record<string, string> = {};
    for (const name in positions) params[name] = values?.[Number(positions[name])] ?? "";
    return { route, path, params };
  }

  find(method: string, path: string): IndexedRoute | undefined {
    return this.match(method, path)?.route;
  }

  #addWithParameters(route: IndexedRoute): void {
    const { method, path } = route;
    const prefix = prefixOf(path);
    const router = this.#routers.get(prefix) ?? new RegExpRouter();
    this.#routers.set(prefix, router);
    router.add(method, path.replaceAll(/\{(.+?)\}/g, ":$1"), route);
  }

  noRouteError(method: string, path: string): ApiError {
    const allowed = this.#allowedMethods(path);
    return allowed.length > 0 ? new MethodNotImplemented(method, allowed) : new NotFound("path");
  }

  #allowedMethods(path: string): string[] {
    const allowed = [...this.#methods].filter((method) => this.find(method, path));
    return allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
  }
}

/** `/v1/projects` of `/v1/projects/{project_id}`, and `/invitations` of `/invitations/{token}`. */
function prefixOf(path: string): string {
  const end = path.indexOf("/", path.startsWith("/v1/") ? "/v1/".length : 1);
  return end < 0 ? path : path.slice(0, end);
}

/** One route for each method and path: both an API key and a runner token may open it. */
export function toRoutes(
  endpoints: Endpoints,
  middlewareOf: MiddlewareByCredential,
): IndexedRoute[] {
  const routes = new Map<string, IndexedRoute>();
  const add = (operation: Operation, calls: RouteCalls) => {
    const key = `${operation.method} ${operation.path}`;
    routes.set(key, { ...(routes.get(key) ?? describeRoute(operation)), ...calls });
  };
  for (const { operation, createCall } of endpoints.public) {
    add(operation, { public: whenCalled(() => createCall([])) });
  }
  for (const { operation, createCall } of endpoints.apiKey) {
    add(operation, { apiKey: whenCalled(() => createCall(middlewareOf.apiKey(operation))) });
  }
  for (const { operation, createCall } of endpoints.runnerToken) {
    add(operation, {
      runnerToken: whenCalled(() => createCall(middlewareOf.runnerToken(operation))),
    });
  }
  return [...routes.values()];
}

/** Creates the app at the first request. */
function whenCalled<Bindings>(create: () => CallRoute<Bindings>): CallRoute<Bindings> {
  const call = lazy(create);
  return (...request) => call()(...request);
}

function describeRoute(operation: Operation): IndexedRoute {
  const { path, policy, writes = false, exemptFromBudget = false, scope, page = false } = operation;
  const credentials = credentialsOf(operation);
  const accepts = (credential: Credential) => credentials.includes(credential);
  return {
    method: operation.method.toUpperCase(),
    path,
    policy,
    writes,
    exemptFromBudget: exemptFromBudget || operation.method === "delete",
    scope: scope ?? undefined,
    isPublic: !accepts("session") && !accepts("runner_token"),
    needsSession: accepts("session") && !accepts("api_key"),
    acceptsRunnerToken: accepts("runner_token"),
    isPage: page,
  };
}
