import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env as HonoEnv } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ServiceContext } from "../context.ts";
import { BadInput } from "../lib/errors.ts";
import { refusedBody, toIssues } from "./errors.ts";

/**
 * A route behind the gate is bound to its request's service context and to nothing else: a handler
 * cannot reach the database, or anything of the Worker's, past the actor who asks.
 */
export interface Protected {
  Bindings: ServiceContext;
}

/** A router whose validators refuse bad input as the contract says, for the features' routes. */
export function createRouter<E extends HonoEnv = Protected>() {
  return new OpenAPIHono<E>({
    defaultHook: (result) => {
      if (!result.success) throw new BadInput(toIssues(result.error));
    },
  });
}

/** 1 MiB. Enforced while the body is read, whatever its head says of its length. */
export const limitBody = bodyLimit({
  maxSize: 1024 * 1024,
  onError: () => {
    throw refusedBody("The body is over 1 MiB; send less.");
  },
});
