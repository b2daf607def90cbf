import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env as HonoEnv, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { RunnerContext, ServiceContext } from "../context.ts";
import { BadInput } from "../lib/errors.ts";
import { nestsDeeper } from "../lib/json-document.ts";
import { LIMITS } from "../lib/limits.ts";
import { refusedBody, refusedContentType, toIssues } from "./errors.ts";

/**
 * A route behind the gate is bound to its request's service context and to nothing else: a handler
 * cannot reach the database, or anything of the Worker's, past the actor who asks.
 */
export interface Protected {
  Bindings: ServiceContext;
}

/** A route that needs no key has the Worker's bindings. */
export interface Open {
  Bindings: Env;
}

/** A route of the runner plane, bound likewise to the context of the runner that asks. */
export interface ProtectedForRunners {
  Bindings: RunnerContext;
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
const limitBody = bodyLimit({
  maxSize: 1024 * 1024,
  onError: () => {
    throw refusedBody("The body is over 1 MiB; send less.");
  },
});

/**
 * Takes `application/json` alone, and with parameters however they are spaced (RFC 9110, 8.3.1):
 * the validators would take any `+json` for it, and no space before the semicolon.
 */
const requirePlainJson: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("content-type") ?? "";
  const essence = String(type.split(";")[0]).trim().toLowerCase();
  if (essence.endsWith("+json")) throw refusedContentType();
  if (essence === "application/json" && type !== essence) {
    const headers = new Headers(c.req.raw.headers);
    headers.set("content-type", essence);
    c.req.raw = new Request(c.req.raw, { headers });
  }
  await next();
};

/** Before anything recurses into the body: parsers and validators overflow the stack. */
const limitDepth: MiddlewareHandler = async (c, next) => {
  const maximum = LIMITS.bodyDepth.value;
  if (nestsDeeper(await c.req.text(), maximum)) {
    throw refusedBody(
      `Nest the body at most ${maximum} levels deep, and a document in it at most ` +
        `${LIMITS.documentDepth.value}.`,
    );
  }
  await next();
};

/** What stands before every route that may read a body. */
export const readJsonBodies = [limitBody, requirePlainJson, limitDepth] as const;
