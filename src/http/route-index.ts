import type { OpenAPIHono } from "@hono/zod-openapi";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { type ApiError, MethodNotImplemented, NotFound } from "../lib/errors.ts";
import type { Scope } from "../lib/scopes.ts";
import type { PolicyName } from "../rate-limits/policies.ts";
import { type Credential, optionsOf } from "./operation.ts";

export interface IndexedRoute {
  method: string;
  /** As in the OpenAPI document: `/v1/projects/{project_id}`. */
  path: string;
  policy: PolicyName | undefined;
  /** Whether the route writes although its method is GET. */
  writes: boolean;
  /** What a narrowed API key needs. Undefined: nothing. */
  scope: Scope | undefined;
  isPublic: boolean;
  /** Whether an API key does not open the route. */
  needsSession: boolean;
  acceptsRunnerToken: boolean;
  requiresBody: boolean;
  /** Whether the body is text, not JSON. */
  acceptsText: boolean;
  /** Whether the request or the response is one record. */
  isRecord: boolean;
  /** Whether the response has the tag of its body. */
  isPolled: boolean;
  /** Whether the response is a page of HTML. */
  isPage: boolean;
  /** The status of a response that is no error. */
  successStatus: number;
}

export type FindRoute = (method: string, path: string) => IndexedRoute | undefined;

/** Has the matching rules of Hono's own router. */
export class RouteIndex {
  readonly #router = new SmartRouter<IndexedRoute>({
    routers: [new RegExpRouter(), new TrieRouter()],
  });
  readonly #methods = new Set<string>();

  constructor(definitions: OpenAPIHono["openAPIRegistry"]["definitions"]) {
    for (const definition of definitions) {
      if (definition.type !== "route") continue;
      const { route } = definition;
      const method = route.method.toUpperCase();
      const { credentials, policy, writes, isRecord, isPolled, scope } = optionsOf(route);
      const accepts = (credential: Credential) => credentials.includes(credential);
      const indexed = {
        method,
        path: route.path,
        policy,
        writes,
        scope,
        isPublic: !accepts("session") && !accepts("runner_token"),
        needsSession: accepts("session") && !accepts("api_key"),
        acceptsRunnerToken: accepts("runner_token"),
        requiresBody: route.request?.body?.required === true,
        acceptsText: "text/plain" in (route.request?.body?.content ?? {}),
        isRecord,
        isPolled,
        isPage: Object.values(route.responses).some(
          (reply) => "content" in reply && reply.content && "text/html" in reply.content,
        ),
        successStatus: Number(Object.keys(route.responses)[0]),
      };
      this.#methods.add(method);
      this.#router.add(method, route.path.replaceAll(/\{(.+?)\}/g, ":$1"), indexed);
    }
  }

  /** A HEAD request uses the GET route. */
  find(method: string, path: string): IndexedRoute | undefined {
    const [[found]] = this.#router.match(method === "HEAD" ? "GET" : method, path);
    return found?.[0];
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
