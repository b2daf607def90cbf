import type { Context, NotFoundHandler } from "hono";
import { MethodNotImplemented, NotFound } from "../lib/errors.ts";
import { authenticate } from "./middleware.ts";
import { contextOf, type FeatureContext } from "./request-context.ts";
import type { AnyRouter } from "./router.ts";

const METHODS = ["POST", "GET", "PUT", "PATCH", "DELETE"];

/** Answers a request of a known path with another method. */
export function noRoute({ router }: Pick<AnyRouter, "router">): NotFoundHandler {
  return (c) => {
    const { path } = contextOf(c);
    const allowed = METHODS.filter((method) => router.match(method, path)[0].length > 0);
    return refuse(c, allowed.includes("GET") ? [...allowed, "HEAD"] : allowed);
  };
}

/** Answers a request of an unknown path. */
export const notFound: NotFoundHandler = (c) => refuse(c, []);

/** Within the limits: below `/v1/`, only to those who have a credential. */
async function refuse(c: Context, allowed: readonly string[]): Promise<Response> {
  const context = contextOf(c);
  if (context.reader) return c.body(null, 404);
  const { method } = context.request;
  const refusal =
    allowed.length > 0 ? new MethodNotImplemented(method, [...allowed]) : new NotFound("path");
  if (context.path.startsWith("/v1/")) {
    await authenticate(c as FeatureContext, () => Promise.reject(refusal));
  }
  await context.deps.limitAddress(context);
  throw refusal;
}
