import * as oauth from "oauth4webapi";
import { type CookiePurpose, hostCookie, readHostCookie } from "../../../http/host-cookie.ts";
import type { Cipher } from "../../../lib/cipher.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/ids.ts";
import { type PendingSignIn, type ProvenSignIn, SIGN_IN_TTL_MS, UNKNOWN_SIGN_IN } from "./model.ts";

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

/** With the same ID, so that one session at most starts from it. */
export function newProvenSignIn(
  clock: Clock,
  { id, returnTo }: PendingSignIn,
  email: string,
): ProvenSignIn {
  return { id, returnTo, email, expiresAt: clock.now() + SIGN_IN_TTL_MS };
}

/** An encrypted cookie with the state of a sign-in. A text of one cookie does not open as another. */
class SealedCookie<State extends { expiresAt: number }> {
  readonly #purpose: CookiePurpose;
  readonly #context;

  constructor(purpose: CookiePurpose, row: string) {
    this.#purpose = purpose;
    this.#context = { table: "pending_sign_ins", row, organizationId: "", owners: [] };
  }

  /** @returns `Set-Cookie`. */
  async seal(requestUrl: string, state: State, cipher: Cipher): Promise<string> {
    const value = await cipher.seal(JSON.stringify(state), this.#context);
    return hostCookie(requestUrl, this.#purpose, { value, maxAgeSeconds: SIGN_IN_TTL_MS / 1000 });
  }

  /** @throws BadInput if the browser has none, or it has expired. */
  async open(request: Request, cipher: Cipher, clock: Clock): Promise<State> {
    const sealed = readHostCookie(request, this.#purpose);
    const text = await cipher.open(sealed, this.#context).catch(() => undefined);
    const state = text === undefined ? undefined : (JSON.parse(text) as State);
    if (!state || state.expiresAt <= clock.now()) throw UNKNOWN_SIGN_IN;
    return state;
  }

  /** @returns `Set-Cookie` that removes it. */
  clear(requestUrl: string): string {
    return hostCookie(requestUrl, this.#purpose, { value: "", maxAgeSeconds: 0 });
  }
}

export const PENDING_SIGN_IN = new SealedCookie<PendingSignIn>("longshore-sign-in", "cookie");
export const PROVEN_SIGN_IN = new SealedCookie<ProvenSignIn>("longshore-choice", "choice");

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
