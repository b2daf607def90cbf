import type { Declared } from "./declared.ts";
import { contextOf, type FeatureMiddleware } from "./request-context.ts";

/** Tells the middleware behind it which operation is requested. */
export function declare(operation: Declared): FeatureMiddleware {
  return (c, next) => {
    contextOf(c).requestLog.route = operation.path;
    c.set("operation", operation);
    return next();
  };
}

/** Opens an operation to who has its credential, within the rate limits. */
export const authenticate: FeatureMiddleware = async (c, next) => {
  const context = contextOf(c);
  const { reader, deps } = context;
  if (reader) {
    c.set("ctx", reader);
    c.set("run", (work) => work(reader));
    return next();
  }
  const operation = c.get("operation");
  const admission = await deps.admissionOf(context, operation);
  const visit = await admission.authenticate(context, operation);
  await admission.admit(c, visit, next);
};

/** Opens an operation that needs no credential, within the limit of the client address. */
export const openToAll: FeatureMiddleware = async (c, next) => {
  const context = contextOf(c);
  await context.deps.limitAddress(context);
  const ctx = context.deps.openToAll(context);
  c.set("ctx", ctx);
  c.set("run", (work) => work(ctx));
  await next();
};

/** Opens the operation that makes the first organization to the operator, who has the token. */
export const requireBootstrapToken: FeatureMiddleware = async (c, next) => {
  const context = contextOf(c);
  await context.deps.requireBootstrapToken(context);
  await next();
};

export const safeWrites: FeatureMiddleware = (c, next) => contextOf(c).deps.safeWrites(c, next);
