import { OpenAPIHono, type RouteConfig, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context, Handler, Env as HonoEnv, MiddlewareHandler } from "hono";
import type { Router as HonoRouter, Params, Result } from "hono/router";
import { BadInput, type Issue } from "../lib/errors.ts";
import type { ApiKeyEnv } from "./envs.ts";
import { toIssues } from "./errors.ts";
import { handlerOf, type Presentable, type Work } from "./handle.ts";
import type { Operation } from "./operation.ts";
import { explainParameter } from "./query-parameters.ts";

/** The responses of operations, by the ID of the operation: the `Documented` of a `document.ts`. */
type Responses = Readonly<Record<string, { responses: RouteConfig["responses"] }>>;

/** What the types of a handler follow from. */
type RouteOf<Declared extends Operation, Documented extends Responses> = {
  method: Declared["method"];
  path: Declared["path"];
  responses: Documented[Declared["operationId"]]["responses"];
} & (Declared extends { request: () => infer Request } ? { request: Request } : unknown);

/** The path of a request, and the values in it: the `RouteIndex` finds them once. */
export interface MatchedPath {
  path: string;
  params: Params;
}

/** Calls the handler of a route. */
export type CallRoute<Bindings> = (
  request: Request,
  bindings: Bindings,
  execution: Pick<ExecutionContext, "waitUntil">,
  matched: MatchedPath,
) => Response | Promise<Response>;

/** An operation with its handler, which becomes an app of Hono at the first request. */
export interface Endpoint<E extends HonoEnv> {
  readonly operation: Operation;
  /** @param middleware Runs before that of the operation. */
  createCall(middleware: readonly MiddlewareHandler[]): CallRoute<E["Bindings"]>;
}

type Target = OpenAPIHono["router"] extends HonoRouter<infer Handled> ? Handled : never;

/** The router of an app that has one route, and is called only if that matches. */
class MatchedRouter implements HonoRouter<Target> {
  readonly name = "MatchedRouter";
  readonly #targets: Target[] = [];
  /** Of the request that the app receives next. It asks for both before its `fetch` returns. */
  next: MatchedPath = { path: "", params: {} };

  add(_method: string, _path: string, target: Target): void {
    this.#targets.push(target);
  }

  match(): Result<Target> {
    const { params } = this.next;
    return [this.#targets.map((target) => [target, params])];
  }
}

/** Only `handle` heeds the `Idempotency-Key`, which requests with an API key or a session may have. */
type NeedsHandle<Declared> = Declared extends { method: "post" | "patch"; scope: unknown }
  ? { "needs handle": never }
  : unknown;

/** The endpoints of a feature. */
export class Router<Documented extends Responses, E extends HonoEnv = ApiKeyEnv> {
  readonly endpoints: Endpoint<E>[] = [];

  /** For what `handle` does not do: pages, redirects, streams, cookies and other headers. */
  openapi<const Declared extends Operation & { operationId: keyof Documented }>(
    operation: Declared & NeedsHandle<Declared>,
    handler: RouteHandler<RouteOf<Declared, Documented>, E>,
  ): this {
    const createCall = (middleware: readonly MiddlewareHandler[]): CallRoute<E["Bindings"]> => {
      const { method, path } = operation;
      const { params, ...request } = operation.request?.() ?? {};
      // Several at once are the validators of Hono, in its order.
      const onlyParams = params instanceof z.ZodObject && Object.keys(request).length === 0;
      const router = new MatchedRouter();
      const getPath = () => router.next.path;
      const app = new OpenAPIHono<E>({ defaultHook: requireValid, getPath });
      app.router = router;
      app.onError(rethrow);
      const route = {
        ...{ method, path, responses: {} },
        request: onlyParams ? {} : { ...request, ...(params && { params }) },
        middleware: [
          ...middleware,
          ...(operation.middleware ?? []),
          ...(onlyParams ? [validateParams(params)] : []),
        ],
        // The document is made at the build.
        hide: true,
      };
      app.openapi(route, handler as Handler<E>);
      return (request, bindings, execution, matched) => {
        router.next = matched;
        return app.fetch(request, bindings, execution as ExecutionContext);
      };
    };
    this.endpoints.push({ operation, createCall });
    return this;
  }

  /** Replies as the operation declares. `work` calls a verb of the service. */
  handle<const Declared extends Operation & { operationId: keyof Documented }>(
    operation: Declared &
      Presentable<Declared, Documented[Declared["operationId"]]["responses"], E["Bindings"]>,
    work: Work<Declared, E>,
  ): this {
    return this.openapi(operation as never, handlerOf(operation, work as never) as never);
  }
}

/** @typeParam Documented Of the `document.ts` of the feature. */
export function createRouter<Documented extends Responses, E extends HonoEnv = ApiKeyEnv>() {
  return new Router<Documented, E>();
}

/** Does without the promises of Hono's validators: most reads have only parameters in the path. */
function validateParams(schema: z.ZodObject): MiddlewareHandler {
  return (c, next) => {
    const result = schema.safeParse(c.req.param());
    if (!result.success) throw new BadInput(toIssues(result.error));
    c.req.addValidatedData("param", result.data);
    return next();
  };
}

type Validation = Parameters<NonNullable<OpenAPIHono["defaultHook"]>>[0];

function requireValid(result: Validation, { req }: Context): void {
  if (result.success) return;
  const issues = toIssues(result.error);
  if (result.target !== "query") throw new BadInput(issues);
  const valuesOf = ({ path }: Issue) => req.queries(path.split(".")[0] ?? "") ?? [];
  throw new BadInput(issues.map((each) => explainParameter(each, valuesOf(each))));
}

/** `handleRequest` renders the errors of all apps. */
function rethrow(error: Error): never {
  throw error;
}
