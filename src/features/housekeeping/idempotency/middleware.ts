import type { Context } from "hono";
import { readsEverything } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import {
  contextOf,
  type FeatureEnv,
  type FeatureMiddleware,
} from "../../../http/request-context.ts";
import { readSessionCookie } from "../../../http/session-cookie.ts";
import { hmacHex, sha256Hex } from "../../../lib/digest.ts";
import { NotFound } from "../../../lib/errors.ts";
import { INVALID_IDEMPOTENCY_KEY } from "../../../lib/header-errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { once, type Replay } from "./once.ts";

const maximum = LIMITS.idempotencyKeyLength.value;
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${maximum}}$`);

type C = Context<FeatureEnv<ServiceContext>>;

/**
 * Does the work of a request with an `Idempotency-Key` once. Its repeat shows the stored result. Follows what reads
 * the body, whose size is limited.
 */
export const safeWrites: FeatureMiddleware = async (c: C, next) => {
  const key = c.req.header("idempotency-key");
  if (key === undefined) return next();
  if (!KEY.test(key)) throw INVALID_IDEMPOTENCY_KEY;
  const { run, ctx, operation } = c.var;
  const request = {
    key,
    fingerprint: await fingerprintOf(c),
    status: Number(Object.keys(operation.responses)[0]),
    entryId: newId(ctx.clock),
  };
  let replay: Replay | undefined;
  c.set("run", (work) =>
    run(async (current) => {
      const performed = await once(current, request, work);
      replay = performed.replay;
      return performed.result;
    }),
  );
  await next();
  if (replay) await showReplay(c, replay);
};

/** Throws if the caller can no longer read what the response shows. */
async function showReplay(c: C, { status, notFound }: Replay): Promise<void> {
  const location = c.res.headers.get("location");
  await requireShown(c, { location, notFound });
  if (c.res.status !== status) c.res = new Response(c.res.body, { status, headers: c.res.headers });
  c.res.headers.set("idempotency-replayed", "true");
}

/**
 * Throws if the caller can no longer read what a stored response shows. `notFound` applies unless the
 * caller can: a rotation, for example, ends the key that its path names.
 */
async function requireShown(
  c: C,
  { location, notFound }: Pick<Replay, "notFound"> & { location: string | null },
): Promise<void> {
  const { ctx } = c.var;
  if (readsEverything(ctx.actor)) return;
  const path = pathOfShown(c, location, notFound !== undefined);
  if (path !== undefined) {
    const context = contextOf(c);
    try {
      if ((await context.deps.read(context, path, ctx)).ok) return;
    } catch (error) {
      throw error instanceof NotFound ? (notFound ?? error) : error;
    }
  }
  if (notFound) throw notFound;
}

/** Undefined: nothing to read. A PATCH shows the record at its path. */
function pathOfShown({ req }: C, location: string | null, isMissing: boolean): string | undefined {
  if (location === null) return isMissing && req.method === "PATCH" ? req.path : undefined;
  // The path of a record of an organization has been authorized, and a founder reads no other one.
  return isMissing || !location.startsWith("/v1/orgs/") ? location : undefined;
}

/** Keyed with the API key or the session, which is not stored: a body can contain a secret that is easy to guess. */
async function fingerprintOf({ req }: C): Promise<string> {
  const { pathname, search } = new URL(req.url);
  const digest = await sha256Hex(await req.arrayBuffer());
  // No part contains a line break, so that different requests have different texts.
  const text = [req.method, pathname + search, digest].join("\n");
  return hmacHex(req.header("x-api-key") ?? readSessionCookie(req.raw), text);
}
