import type { Context, MiddlewareHandler } from "hono";
import { readsEverything, type ServiceContext } from "../../context.ts";
import type { Operation } from "../../http/operation.ts";
import type { ApiKeyEnv } from "../../http/router.ts";
import { readSessionCookie } from "../../http/session-cookie.ts";
import { hmacHex, sha256Hex } from "../../lib/digest.ts";
import { type ApiError, NotFound } from "../../lib/errors.ts";
import { INVALID_IDEMPOTENCY_KEY } from "../../lib/header-errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";

const maximum = LIMITS.idempotencyKeyLength.value;
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${maximum}}$`);

export function isIdempotent({ method }: Operation): boolean {
  return method === "post" || method === "patch";
}

/** Calls a route with the actor of the context. */
export type ReadRecord = (
  request: Request,
  ctx: ServiceContext,
  execution: Context["executionCtx"],
) => Response | Promise<Response>;

/**
 * Reads the `Idempotency-Key` of POST and PATCH requests, after the body, whose size is limited.
 */
export function readIdempotencyKey(
  { status = 200 }: Operation,
  read: ReadRecord,
): MiddlewareHandler<ApiKeyEnv> {
  return async (c, next) => {
    const key = c.req.header("idempotency-key");
    if (key === undefined) return next();
    if (!KEY.test(key)) throw INVALID_IDEMPOTENCY_KEY;
    const idempotentRequest = {
      key,
      fingerprint: await fingerprintOf(c),
      status,
      recordId: newId(c.env.clock),
      isRecorded: false,
      hasSecrets: false,
      replayedStatus: undefined as number | undefined,
      notFound: undefined as ApiError | undefined,
    };
    c.env = { ...c.env, idempotentRequest };
    await next();
    const { replayedStatus, notFound } = idempotentRequest;
    if (replayedStatus === undefined) return;
    await requireShown(c, read, notFound);
    c.header("idempotency-replayed", "true");
    if (c.res.status !== replayedStatus) {
      c.res = new Response(c.res.body, { status: replayedStatus, headers: c.res.headers });
    }
  };
}

/**
 * Throws if the caller can no longer read what a stored response shows. `notFound` applies unless the
 * caller can: a rotation, for example, ends the key that its path names.
 */
async function requireShown(
  c: Context<ApiKeyEnv>,
  read: ReadRecord,
  notFound: ApiError | undefined,
): Promise<void> {
  if (readsEverything(c.env.actor)) return;
  const path = pathOfShown(c, notFound !== undefined);
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
function pathOfShown({ req, res }: Context<ApiKeyEnv>, isMissing: boolean): string | undefined {
  const location = res.headers.get("location");
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
