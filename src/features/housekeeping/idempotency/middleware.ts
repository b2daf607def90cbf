import type { Context, MiddlewareHandler } from "hono";
import { readsEverything } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { ApiKeyEnv } from "../../../http/envs.ts";
import type { Operation } from "../../../http/operation.ts";
import { readSessionCookie } from "../../../http/session-cookie.ts";
import { hmacHex, sha256Hex } from "../../../lib/digest.ts";
import { NotFound } from "../../../lib/errors.ts";
import { INVALID_IDEMPOTENCY_KEY } from "../../../lib/header-errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { once, type Replay } from "./once.ts";

const maximum = LIMITS.idempotencyKeyLength.value;
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${maximum}}$`);

export function isIdempotent({ method }: Operation): boolean {
  return method === "post" || method === "patch";
}

/** Calls a route with the actor of the context. */
export type ReadResource = (
  request: Request,
  ctx: ServiceContext,
  execution: Context["executionCtx"],
) => Response | Promise<Response>;

/**
 * Reads the `Idempotency-Key` of POST and PATCH requests, after the body, whose size is limited.
 */
export function readIdempotencyKey(
  { status = 200 }: Operation,
  read: ReadResource,
): MiddlewareHandler<ApiKeyEnv> {
  return async (c, next) => {
    const key = c.req.header("idempotency-key");
    if (key === undefined) return next();
    if (!KEY.test(key)) throw INVALID_IDEMPOTENCY_KEY;
    const request = {
      key,
      fingerprint: await fingerprintOf(c),
      status,
      entryId: newId(c.env.clock),
    };
    c.set("answerOnce", async (work, reply) => {
      const { result, replay } = await once(c.env, request, work);
      const response = await reply(result);
      return replay ? showReplay(c, read, replay, response) : response;
    });
    return next();
  };
}

/** Throws if the caller can no longer read what the response shows. */
async function showReplay(
  c: Context<ApiKeyEnv>,
  read: ReadResource,
  { status, notFound }: Replay,
  response: Response,
): Promise<Response> {
  const location = response.headers.get("location");
  await requireShown(c, read, { location, notFound });
  response.headers.set("idempotency-replayed", "true");
  const { body, headers } = response;
  return response.status === status ? response : new Response(body, { status, headers });
}

/**
 * Throws if the caller can no longer read what a stored response shows. `notFound` applies unless the
 * caller can: a rotation, for example, ends the key that its path names.
 */
async function requireShown(
  c: Context<ApiKeyEnv>,
  read: ReadResource,
  { location, notFound }: Pick<Replay, "notFound"> & { location: string | null },
): Promise<void> {
  if (readsEverything(c.env.actor)) return;
  const path = pathOfShown(c, location, notFound !== undefined);
  if (path !== undefined) {
    try {
      const request = new Request(new URL(path, c.req.url));
      if ((await read(request, c.env, c.executionCtx)).ok) return;
    } catch (error) {
      throw error instanceof NotFound ? (notFound ?? error) : error;
    }
  }
  if (notFound) throw notFound;
}

/** Undefined: nothing to read. A PATCH shows the record at its path. */
function pathOfShown(
  { req }: Context<ApiKeyEnv>,
  location: string | null,
  isMissing: boolean,
): string | undefined {
  if (location === null) return isMissing && req.method === "PATCH" ? req.path : undefined;
  // The path of a record of an organization has been authorized, and a founder reads no other one.
  return isMissing || !location.startsWith("/v1/orgs/") ? location : undefined;
}

/** Keyed with the API key or the session, which is not stored: a body can contain a secret that is easy to guess. */
async function fingerprintOf({ req }: Context): Promise<string> {
  const { pathname, search } = new URL(req.url);
  const digest = await sha256Hex(await req.arrayBuffer());
  // No part contains a line break, so that different requests have different texts.
  const text = [req.method, pathname + search, digest].join("\n");
  return hmacHex(req.header("x-api-key") ?? readSessionCookie(req.raw), text);
}
