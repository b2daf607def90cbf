import { OpenAPIHono, type RouteConfig, type RouteHandler, z } from "@hono/zod-openapi";
import type { Handler, Env as HonoEnv, MiddlewareHandler } from "hono";
import { RegExpRouter } from "hono/router/reg-exp-router";
import type { RequestOrigin, RunnerContext, ServiceContext } from "../context.ts";
import { BadInput } from "../lib/errors.ts";
import { toIssues } from "./errors.ts";
import type { Operation } from "./operation.ts";

/**
 * Only the service context, so that a handler cannot reach the database or other bindings of the
 * Worker without its actor.
 */
export interface ApiKeyEnv {
  Bindings: ServiceContext;
}

export interface RunnerEnv {
  Bindings: RunnerContext;
}

export interface PublicEnv {
  Bindings: Env & { origin: RequestOrigin };
}

/** The responses of operations, by the ID of the operation: the `Documented` of a `document.ts`. */
type Responses = Readonly<Record<string, { responses: RouteConfig["responses"] }>>;

/** What the types of a handler follow from. */
type RouteOf<Declared extends Operation, Documented extends Responses> = {
  method: Declared["method"];
  path: Declared["path"];
  responses: Documented[Declared["operationId"]]["responses"];
} & (Declared extends { request: () => infer Request } ? { request: Request } : unknown);

/** An operation with its handler, which becomes an app of Hono at the first request. */
export interface Endpoint<E extends HonoEnv> {
  readonly operation: Operation;
  /** @param middleware Runs before that of the operation. */
  createApp(middleware: readonly MiddlewareHandler[]): OpenAPIHono<E>;
}

/** The endpoints of a feature. */
export class Router<Documented extends Responses, E extends HonoEnv = ApiKeyEnv> {
  readonly endpoints: Endpoint<E>[] = [];

  openapi<const Declared extends Operation & { operationId: keyof Documented }>(
    operation: Declared,
    handler: RouteHandler<RouteOf<Declared, Documented>, E>,
  ): this {
    const createApp = (middleware: readonly MiddlewareHandler[]) => {
      const { method, path } = operation;
      const { params, ...request } = operation.request?.() ?? {};
      // Several at once are the validators of Hono, in its order.
      const onlyParams = params instanceof z.ZodObject && Object.keys(request).length === 0;
      const app = new OpenAPIHono<E>({ defaultHook: requireValid, router: new RegExpRouter() });
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
      return app.openapi(route, handler as Handler<E>);
    };
    this.endpoints.push({ operation, createApp });
    return this;
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

function requireValid(result: Validation): void {
  if (!result.success) throw new BadInput(toIssues(result.error));
}

/** `handleRequest` renders the errors of all apps. */
function rethrow(error: Error): never {
  throw error;
}
