import type { RouteConfig } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BadInput } from "../lib/errors.ts";
import { nestsDeeper } from "../lib/json-document.ts";
import { findInexactNumber } from "../lib/json-numbers.ts";
import { LIMITS } from "../lib/limits.ts";
import { sizeOf } from "../lib/quantities.ts";
import { invalidBody, unsupportedContentType } from "./errors.ts";

/** Reads and checks the body in the type that the operation accepts. */
export function readersOf({
  method,
  request,
}: Pick<RouteConfig, "method" | "request">): readonly MiddlewareHandler[] {
  if (method === "get" || method === "delete") return [];
  const body = request?.body;
  if (body && "text/plain" in body.content) return [readTextBody];
  return [readJsonBody({ isRequired: body?.required === true })];
}

/** Counts the bytes as they are read: Content-Length may be absent or wrong. */
const limitTo = (maxSize: number) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw invalidBody(tooLarge(maxSize));
    },
  });
const limitBody = limitTo(LIMITS.bodyBytes.value);
const limitLogChunk = limitTo(LIMITS.logChunkBytes.value);

export function tooLarge(maximum: number): string {
  return `The body is over ${sizeOf(maximum)}; send less.`;
}

export const NO_BODY = invalidBody("Send a JSON body, with content-type: application/json.");
const COMPRESSED = "Send the body uncompressed, without content-encoding.";
export const NOT_PLAIN_TEXT = invalidBody("Send the body with content-type: text/plain.");

/** Reads and checks a JSON body before it is parsed. */
export function readJsonBody({ isRequired }: { isRequired: boolean }): MiddlewareHandler {
  return async (c, next) => {
    normalizeContentType(c);
    const text = await readText(c);
    if (text === "" && isRequired) {
      throw NO_BODY;
    }
    requireShallow(text);
    if (c.req.header("content-type") === "application/json") requireExactNumbers(text);
    await next();
  };
}

/** The bytes of a log, in any encoding. */
export const readTextBody: MiddlewareHandler = async (c, next) => {
  const [essence] = (c.req.header("content-type") ?? "").split(";");
  if (essence?.trim().toLowerCase() !== "text/plain") {
    throw NOT_PLAIN_TEXT;
  }
  await readBytes(c, limitLogChunk);
  await next();
};

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

async function readText(c: Context): Promise<string> {
  const bytes = await readBytes(c, limitBody);
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw invalidBody(isGzip(bytes) ? COMPRESSED : "Send the body in UTF-8.");
  }
}

/** Some programs compress a body and do not say so. */
function isGzip(bytes: ArrayBuffer): boolean {
  const [first, second] = new Uint8Array(bytes);
  return first === 0x1f && second === 0x8b;
}

/** Hono caches the body that is read here, so the validators can read it again. */
async function readBytes(c: Context, limit: MiddlewareHandler): Promise<ArrayBuffer> {
  try {
    await limit(c, async () => undefined);
    const bytes = await c.req.arrayBuffer();
    const encoding = c.req.header("content-encoding") ?? "identity";
    if (bytes.byteLength > 0 && encoding.toLowerCase() !== "identity") {
      throw invalidBody(COMPRESSED);
    }
    return bytes;
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

/** A number that the caller would not get back. */
function requireExactNumbers(text: string): void {
  const found = findInexactNumber(text);
  if (!found) return;
  const { path, becomes } = found;
  const message = `Send it as a string. As a number, it would become ${becomes}.`;
  throw new BadInput([{ path, message }]);
}
