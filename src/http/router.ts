import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, Env as HonoEnv, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { RequestOrigin, RunnerContext, ServiceContext } from "../context.ts";
import { BadInput } from "../lib/errors.ts";
import { nestsDeeper } from "../lib/json-document.ts";
import { LIMITS } from "../lib/limits.ts";
import { invalidBody, toIssues, unsupportedContentType } from "./errors.ts";
import type { FindRoute } from "./route-index.ts";

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

export function createRouter<E extends HonoEnv = ApiKeyEnv>() {
  return new OpenAPIHono<E>({
    defaultHook: (result) => {
      if (!result.success) throw new BadInput(toIssues(result.error));
    },
  });
}

/** Counts the bytes as they are read: Content-Length may be absent or wrong. */
const limitTo = (maxSize: number, size: string) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw invalidBody(`The body is over ${size}; send less.`);
    },
  });
const limitBody = limitTo(LIMITS.bodyBytes.value, "1 MiB");
const limitLogChunk = limitTo(LIMITS.logChunkBytes.value, "256 KiB");

export type RequiresBody = (method: string, path: string) => boolean;

/** Reads and checks the body in the type that the route accepts. */
export function readBody(findRoute: FindRoute): MiddlewareHandler {
  const readJson = readJsonBody((method, path) => findRoute(method, path)?.requiresBody === true);
  return (c, next) => {
    const acceptsText = findRoute(c.req.method, c.req.path)?.acceptsText === true;
    return acceptsText ? readTextBody(c, next) : readJson(c, next);
  };
}

export function readJsonBody(requiresBody: RequiresBody): MiddlewareHandler {
  return async (c, next) => {
    normalizeContentType(c);
    const text = await readText(c);
    if (text === "" && requiresBody(c.req.method, c.req.path)) {
      throw invalidBody("Send a JSON body, with content-type: application/json.");
    }
    requireShallow(text);
    await next();
  };
}

/** The bytes of a log, in any encoding. */
const readTextBody: MiddlewareHandler = async (c, next) => {
  const [essence] = (c.req.header("content-type") ?? "").split(";");
  if (essence?.trim().toLowerCase() !== "text/plain") {
    throw invalidBody("Send the body with content-type: text/plain.");
  }
  await readBytes(c, limitLogChunk);
  await next();
};

async function readText(c: Context): Promise<string> {
  const bytes = await readBytes(c, limitBody);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalidBody("Send the body in UTF-8.");
  }
}

/** Hono caches the body that is read here, so the validators can read it again. */
async function readBytes(c: Context, limit: MiddlewareHandler): Promise<ArrayBuffer> {
  try {
    await limit(c, async () => undefined);
    return await c.req.arrayBuffer();
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw invalidBody("The body broke off before its end. Send it again.");
  }
}

/**
 * Rejects `+json` types, which the validators would accept, and removes the parameters of
 * `application/json`, because the validators reject a space before the semicolon (RFC 9110, 8.3.1).
 */
function normalizeContentType(c: Context): void {
  const type = c.req.header("content-type") ?? "";
  const essence = String(type.split(";")[0]).trim().toLowerCase();
  if (essence.endsWith("+json")) throw unsupportedContentType();
  if (essence !== "application/json" || type === essence) return;
  const headers = new Headers(c.req.raw.headers);
  headers.set("content-type", essence);
  c.req.raw = new Request(c.req.raw, { headers });
}

/** Checked before parsing: parsers and validators recurse, and would overflow the stack. */
function requireShallow(text: string): void {
  const maximum = LIMITS.bodyDepth.value;
  if (!nestsDeeper(text, maximum)) return;
  throw invalidBody(
    `Nest the body at most ${maximum} levels deep, and a document in it at most ` +
      `${LIMITS.documentDepth.value}.`,
  );
}
