import type { Context, MiddlewareHandler } from "hono";
import { bodyTag, entityTag, listsTag, parseIfMatch } from "../lib/entity-tag.ts";
import {
  INVALID_IF_MATCH,
  INVALID_IF_NONE_MATCH,
  UNSUPPORTED_IF_MATCH,
  UNSUPPORTED_IF_NONE_MATCH,
} from "../lib/header-errors.ts";
import type { FindRoute } from "./route-index.ts";
import type { ApiKeyEnv } from "./router.ts";

/**
 * Sets the `ETag` of a response that is one record, and returns the record.
 * @param version The number of writes by callers.
 */
export async function tagged<Record extends object>(
  c: Context,
  version: number,
  record: Record,
): Promise<Record> {
  c.header("etag", await entityTag(version, record));
  return record;
}

/**
 * Sets the `Location` of a record that the request has created.
 * @param path Of the operation that reads it.
 */
export function setLocation(
  c: Context,
  { path }: { path: string },
  ids: Readonly<Record<string, string>>,
): void {
  c.header(
    "location",
    path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
      const id = ids[name];
      if (id === undefined) throw new Error(`The location needs an ID for {${name}}`);
      return id;
    }),
  );
}

/** Reads `If-Match`. No write ignores a condition: one that it does not support is `bad_input`. */
export function readPreconditions(findRoute: FindRoute): MiddlewareHandler<ApiKeyEnv> {
  return async (c, next) => {
    if (c.req.header("if-none-match") !== undefined) {
      throw UNSUPPORTED_IF_NONE_MATCH;
    }
    const header = c.req.header("if-match");
    if (header === undefined) return next();
    if (c.req.method === "POST" || !findRoute(c.req.method, c.req.path)?.isRecord) {
      throw UNSUPPORTED_IF_MATCH;
    }
    const expectedVersions = parseIfMatch(header);
    if (expectedVersions === undefined) throw INVALID_IF_MATCH;
    c.env = { ...c.env, expectedVersions };
    return next();
  };
}

/** Sets the `ETag` of the responses of routes that are `polled`. */
export function tagPolled(findRoute: FindRoute): MiddlewareHandler<ApiKeyEnv> {
  return async (c, next) => {
    await next();
    if (!findRoute(c.req.method, c.req.path)?.isPolled || !c.res.ok) return;
    const body = await c.res.arrayBuffer();
    c.res = new Response(body, c.res);
    c.header("etag", await bodyTag(body));
  };
}

/** Replies 304 to a GET whose `If-None-Match` lists the tag of the response (RFC 9110, 15.4.5). */
export const replyNotModified: MiddlewareHandler<ApiKeyEnv> = async (c, next) => {
  await next();
  const header = c.req.header("if-none-match");
  const tag = c.res.headers.get("etag");
  if (header === undefined || tag === null) return;
  const isListed = listsTag(header, tag);
  if (isListed === undefined) throw INVALID_IF_NONE_MATCH;
  if (isListed) c.res = new Response(null, { status: 304, headers: { etag: tag } });
};
