import type { Context } from "hono";
import { bodyTag, entityTag, listsTag, parseIfMatch } from "../lib/entity-tag.ts";
import {
  INVALID_IF_MATCH,
  INVALID_IF_NONE_MATCH,
  UNSUPPORTED_IF_MATCH,
  UNSUPPORTED_IF_NONE_MATCH,
} from "../lib/header-errors.ts";
import type { Declared } from "./declared.ts";
import type { FeatureMiddleware } from "./request-context.ts";

/**
 * Sets the `ETag` of a response that is one resource, and returns the resource.
 * @param version The number of writes by callers.
 */
export async function tagged<Resource extends object>(
  c: Context,
  version: number,
  resource: Resource,
): Promise<Resource> {
  c.header("etag", await entityTag(version, resource));
  return resource;
}

/**
 * Sets the `Location` of a resource that the request has created.
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
export function readPreconditions({ method, resource }: Declared): FeatureMiddleware {
  const isSupported = resource === true && method !== "post";
  return (c, next) => {
    const { headers } = c.req.raw;
    if (headers.has("if-none-match")) throw UNSUPPORTED_IF_NONE_MATCH;
    const header = headers.get("if-match");
    if (header === null) return next();
    if (!isSupported) throw UNSUPPORTED_IF_MATCH;
    const expectedVersions = parseIfMatch(header);
    if (expectedVersions === undefined) throw INVALID_IF_MATCH;
    const { run } = c.var;
    c.set("run", (work) => run((ctx) => work({ ...ctx, expectedVersions })));
    return next();
  };
}

/** Sets the `ETag` of the responses of operations that are `polled`. */
export const tagPolled: FeatureMiddleware = async (c, next) => {
  await next();
  if (!c.res.ok) return;
  const body = await c.res.arrayBuffer();
  c.res = new Response(body, c.res);
  c.header("etag", await bodyTag(body));
};

/** Replies 304 to a GET whose `If-None-Match` lists the tag of the response (RFC 9110, 15.4.5). */
export const replyNotModified: FeatureMiddleware = (c, next) =>
  c.req.raw.headers.has("if-none-match") ? compareTag(c, next) : next();

const compareTag: FeatureMiddleware = async (c, next) => {
  await next();
  const tag = c.res.headers.get("etag");
  if (tag === null) return;
  const isListed = listsTag(c.req.raw.headers.get("if-none-match") ?? "", tag);
  if (isListed === undefined) throw INVALID_IF_NONE_MATCH;
  if (isListed) c.res = new Response(null, { status: 304, headers: { etag: tag } });
};
