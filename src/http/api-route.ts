import { createRoute, type RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { OpenContext, RunnerContext, ServiceContext } from "../context.ts";
import type { Access, Declared } from "./declared.ts";
import { readPreconditions, replyNotModified, tagPolled } from "./entity-tags.ts";
import {
  authenticate,
  declare,
  openToAll,
  requireBootstrapToken,
  safeWrites,
} from "./middleware.ts";
import { refuseUnknownParameters } from "./query-parameters.ts";
import { readersOf } from "./read-body.ts";
import type { FeatureEnv, FeatureMiddleware } from "./request-context.ts";

/** What `createRoute` takes, and what Longshore adds from the declaration. */
export type ApiRouteConfig = Omit<RouteConfig, "middleware" | "security" | "operationId"> &
  Declared & {
    /** Runs after the request is admitted, before its body is read. */
    middleware?: readonly FeatureMiddleware[];
  };

/** The context of who may call the operation. */
type ContextOf<A extends Access> = A extends "public" | "bootstrap"
  ? OpenContext
  : A extends "runner"
    ? RunnerContext
    : A extends { runnerToken: true }
      ? ServiceContext | RunnerContext
      : ServiceContext;

/** The declaration itself, as `createRoute` types it: its handler has the context of its callers. */
export type ApiRoute<R extends ApiRouteConfig> = Omit<R, "middleware"> & {
  middleware: [MiddlewareHandler<FeatureEnv<ContextOf<R["access"]>>>];
  getRoutingPath(): string;
};

/** Without this, inference for the type parameter accepts misspelled options. */
type NoOtherKeys<R> = Record<Exclude<keyof R, keyof ApiRouteConfig>, never>;

/**
 * `createRoute` with the middleware that follows from the declaration. The OpenAPI document adds the security, the
 * headers and the errors that follow from it, too: see `src/document`.
 */
export function apiRoute<const R extends ApiRouteConfig>(config: R & NoOtherKeys<R>): ApiRoute<R> {
  const route: ApiRouteConfig = config;
  const middleware = middlewareOf(route);
  return createRoute({ ...route, middleware }) as unknown as ApiRoute<R>;
}

function middlewareOf(route: ApiRouteConfig): FeatureMiddleware[] {
  const { access, method, resource, polled, middleware = [] } = route;
  const isOfCaller = typeof access === "object" || access === "session";
  return [
    declare(route),
    ...(access === "public" || access === "bootstrap" ? [openToAll] : [authenticate]),
    ...(access === "bootstrap" ? [requireBootstrapToken] : []),
    ...middleware,
    ...(method === "get" && access !== "public" ? [refuseUnknownParameters(route)] : []),
    ...readersOf(route),
    ...(isOfCaller && method !== "get" ? [readPreconditions(route)] : []),
    ...(isOfCaller && ["post", "patch"].includes(method) ? [safeWrites] : []),
    ...(isOfCaller && (resource || polled) ? [replyNotModified] : []),
    ...(isOfCaller && polled ? [tagPolled] : []),
  ];
}
