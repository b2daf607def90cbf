import type { OpenAPIHono } from "@hono/zod-openapi";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/** A route of the contract, as far as the way in has to know it before the route runs. */
export interface Operation {
  method: string;
  /** As in the OpenAPI document: `/v1/projects/{project_id}`. */
  path: string;
  /** The rate limit policy that the route names with `x-ratelimit-policy`. */
  policy: string | undefined;
  /** Whether it writes though it is a GET, which the route says with `x-writes`. */
  writes: boolean;
  /** Whether it is outside the gates: it needs neither an API key nor a runner token. */
  open: boolean;
  /** Whether a runner token opens it, alone or beside an API key. */
  forRunners: boolean;
  /** Whether a request without a body is refused. */
  requiresBody: boolean;
}

/** The operations of a router, found by method and path as the router itself would find them. */
export class Operations {
  readonly #router = new SmartRouter<Operation>({
    routers: [new RegExpRouter(), new TrieRouter()],
  });
  readonly #methods = new Set<string>();

  constructor(definitions: OpenAPIHono["openAPIRegistry"]["definitions"]) {
    for (const definition of definitions) {
      if (definition.type !== "route") continue;
      const { route } = definition;
      const method = route.method.toUpperCase();
      const policy: unknown = route["x-ratelimit-policy"];
      const opens = (credential: string) =>
        route.security?.some((each) => credential in each) === true;
      const operation = {
        method,
        path: route.path,
        policy: typeof policy === "string" ? policy : undefined,
        writes: route["x-writes"] === true,
        open: !opens("api_key") && !opens("runner_token"),
        forRunners: opens("runner_token"),
        requiresBody: route.request?.body?.required === true,
      };
      this.#methods.add(method);
      this.#router.add(method, route.path.replaceAll(/\{(.+?)\}/g, ":$1"), operation);
    }
  }

  /** A HEAD is the GET of its path. */
  find(method: string, path: string): Operation | undefined {
    const [[found]] = this.#router.match(method === "HEAD" ? "GET" : method, path);
    return found?.[0];
  }

  /** The methods of a path, for `Allow`; none for a path that no route has. */
  allowedMethods(path: string): string[] {
    const allowed = [...this.#methods].filter((method) => this.find(method, path));
    return allowed.includes("GET") ? [...allowed, "HEAD"] : allowed;
  }
}
