import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, Env as HonoEnv, MiddlewareHandler } from "hono";
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

/** Enforced while the body is read, whatever its head says of its length. */
const limitBody = bodyLimit({
  maxSize: LIMITS.bodyBytes.value,
  onError: () => {
    throw refusedBody("The body is over 1 MiB; send less.");
  },
});

/** Whether a request to this path must have a body. */
export type RequiresBody = (method: string, path: string) => boolean;

/** Reads the body, once, before every route that may have one. */
export function readJsonBody(requiresBody: RequiresBody): MiddlewareHandler {
  return async (c, next) => {
    requirePlainJson(c);
    const text = await readText(c);
    if (text === "" && requiresBody(c.req.method, c.req.path)) {
      throw refusedBody("Send a JSON body, with content-type: application/json.");
    }
    refuseDeep(text);
    await next();
  };
}

async function readText(c: Context): Promise<string> {
  const bytes = await readBytes(c);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw refusedBody("Send the body in UTF-8.");
  }
}

/** The body, which Hono keeps for the validators. */
async function readBytes(c: Context): Promise<ArrayBuffer> {
  try {
    await limitBody(c, async () => undefined);
    return await c.req.arrayBuffer();
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw refusedBody("The body broke off before its end. Send it again.");
  }
}

/**
 * Takes `application/json` alone, and with parameters however they are spaced (RFC 9110, 8.3.1):
 * the validators would take any `+json` for it, and no space before the semicolon.
 */
function requirePlainJson(c: Context): void {
  const type = c.req.header("content-type") ?? "";
  const essence = String(type.split(";")[0]).trim().toLowerCase();
  if (essence.endsWith("+json")) throw refusedContentType();
  if (essence !== "application/json" || type === essence) return;
  const headers = new Headers(c.req.raw.headers);
  headers.set("content-type", essence);
  c.req.raw = new Request(c.req.raw, { headers });
}

/** Before anything recurses into the body: parsers and validators overflow the stack. */
function refuseDeep(text: string): void {
  const maximum = LIMITS.bodyDepth.value;
  if (!nestsDeeper(text, maximum)) return;
  throw refusedBody(
    `Nest the body at most ${maximum} levels deep, and a document in it at most ` +
      `${LIMITS.documentDepth.value}.`,
  );
}
