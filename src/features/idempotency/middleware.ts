import type { Context, MiddlewareHandler } from "hono";
import type { FindRoute } from "../../http/route-index.ts";
import type { ApiKeyEnv } from "../../http/router.ts";
import { readSessionCookie } from "../../http/session-cookie.ts";
import { hmacHex, sha256Hex } from "../../lib/digest.ts";
import { INVALID_IDEMPOTENCY_KEY } from "../../lib/header-errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";

const maximum = LIMITS.idempotencyKeyLength.value;
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${maximum}}$`);

/**
 * Reads the `Idempotency-Key` of POST and PATCH requests, after the body, whose size is limited.
 */
export function readIdempotencyKey(findRoute: FindRoute): MiddlewareHandler<ApiKeyEnv> {
  return async (c, next) => {
    const key = c.req.header("idempotency-key");
    if (key === undefined) return next();
    if (!KEY.test(key)) throw INVALID_IDEMPOTENCY_KEY;
    const idempotentRequest = {
      key,
      fingerprint: await fingerprintOf(c),
      status: findRoute(c.req.method, c.req.path)?.successStatus ?? 200,
      recordId: newId(c.env.clock),
      isRecorded: false,
      hasSecrets: false,
      replayedStatus: undefined as number | undefined,
    };
    c.env = { ...c.env, idempotentRequest };
    await next();
    const { replayedStatus } = idempotentRequest;
    if (replayedStatus === undefined) return;
    c.header("idempotency-replayed", "true");
    if (c.res.status !== replayedStatus) {
      c.res = new Response(c.res.body, { status: replayedStatus, headers: c.res.headers });
    }
  };
}

/** Keyed with the API key or the session, which is not stored: a body can contain a secret that is easy to guess. */
async function fingerprintOf({ req }: Context): Promise<string> {
  const { pathname, search } = new URL(req.url);
  const digest = await sha256Hex(await req.arrayBuffer());
  // No part contains a line break, so that different requests have different texts.
  const text = [req.method, pathname + search, digest].join("\n");
  return hmacHex(req.header("x-api-key") ?? readSessionCookie(req.raw), text);
}
