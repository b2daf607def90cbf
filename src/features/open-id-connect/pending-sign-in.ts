import * as oauth from "oauth4webapi";
import { hostCookie, readHostCookie } from "../../http/host-cookie.ts";
import type { Cipher } from "../../lib/cipher.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import { type PendingSignIn, SIGN_IN_TTL_MS, UNKNOWN_SIGN_IN } from "./model.ts";

const COOKIE = "longshore-sign-in";
const SEALED_FOR = { table: "pending_sign_ins", row: "cookie", organizationId: "", owners: [] };

export function newPendingSignIn(
  clock: Clock,
  purpose: Pick<PendingSignIn, "returnTo" | "invitation">,
): PendingSignIn {
  return {
    ...purpose,
    id: newId(clock),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
    expiresAt: clock.now() + SIGN_IN_TTL_MS,
  };
}

/** @returns `Set-Cookie`. */
export async function sealPendingSignIn(
  requestUrl: string,
  pending: PendingSignIn,
  cipher: Cipher,
): Promise<string> {
  const value = await cipher.seal(JSON.stringify(pending), SEALED_FOR);
  return hostCookie(requestUrl, COOKIE, { value, maxAgeSeconds: SIGN_IN_TTL_MS / 1000 });
}

/** @throws BadInput if the browser has none, or it has expired. */
export async function openPendingSignIn(
  request: Request,
  cipher: Cipher,
  clock: Clock,
): Promise<PendingSignIn> {
  const sealed = readHostCookie(request, COOKIE);
  const text = await cipher.open(sealed, SEALED_FOR).catch(() => undefined);
  const pending = text === undefined ? undefined : (JSON.parse(text) as PendingSignIn);
  if (!pending || pending.expiresAt <= clock.now()) throw UNKNOWN_SIGN_IN;
  return pending;
}

/** @returns `Set-Cookie` that removes it. */
export function clearPendingSignIn(requestUrl: string): string {
  return hostCookie(requestUrl, COOKIE, { value: "", maxAgeSeconds: 0 });
}

/**
 * A path on the origin to continue at, as the browser reads it. Undefined for anything else, also for
 * another origin that is written as `//host` or `/\host`.
 */
export function readReturnPath(text: string, origin: string): string | undefined {
  if (!text.startsWith("/")) return undefined;
  const url = URL.parse(text, origin);
  if (url?.origin !== origin || url.pathname.startsWith("//")) return undefined;
  return url.pathname + url.search + url.hash;
}
