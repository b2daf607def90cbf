import type { MiddlewareHandler } from "hono";
import type { Framed } from "../../http/frame.ts";
import { DESIRED, desiredAfter } from "./errors.ts";

/** Sees to it that every answer of the runner plane says what is desired, a failure too. */
export const tellDesired: MiddlewareHandler<Framed> = async (c, next) => {
  const { headers } = c.var.trace;
  try {
    await next();
  } catch (error) {
    headers[DESIRED] = desiredAfter(error);
    throw error;
  }
  if (!c.res.headers.has(DESIRED)) headers[DESIRED] = "continue";
};
