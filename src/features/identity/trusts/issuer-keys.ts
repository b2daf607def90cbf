import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { createLocalJWKSet } from "jose/jwks/local";
import { BoundedMap } from "../../../lib/bounded-map.ts";
import type { Clock } from "../../../lib/clock.ts";
import { type Fetch, readResponseBody } from "../../../lib/fetch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { targetProblem } from "../../../lib/target-url.ts";

export const KEYS_TTL_MS = 600_000;
/** How long expired keys are used while a request for them runs. */
export const STALE_TTL_MS = 60_000;
const FAILURE_TTL_MS = 10_000;
/** How often a token with an unknown `kid` may cause another request. */
export const RELOAD_INTERVAL_MS = 30_000;
const POLL_INTERVAL_MS = 20;
const MAX_ISSUERS = 1_000;
/** In base64url: 2,048 to 8,192 bits. */
const RSA_MODULUS = { minimum: 342, maximum: 1_366 };
const MAX_EXPONENT_LENGTH = 6;

export type KeySet = JWTVerifyGetKey;

/** The message has no text of the issuer. */
export class IssuerError extends Error {}

interface Reader {
  fetch: Fetch;
  /** As of a webhook. */
  allowsInsecure: boolean;
}

interface CachedKeys {
  /** Undefined until they have been read for the first time. */
  keys: KeySet | IssuerError | undefined;
  freshUntil: number;
  /** When they were last requested. */
  requestedAt: number;
  isLoading: boolean;
}

/** The keys of issuers, as this isolate has cached them. It requests those of an issuer once at a time. */
export class IssuerKeys {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #issuers = new BoundedMap<string, CachedKeys>(MAX_ISSUERS);

  constructor(fetch: Fetch, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** @throws IssuerError if the keys cannot be read, or could not a moment ago. */
  async find(issuer: string, allowsInsecure: boolean): Promise<KeySet> {
    const cached = this.#issuers.get(issuer);
    if (!cached) return this.#load(issuer, allowsInsecure);
    const staleMs = this.#clock.now() - cached.freshUntil;
    if (staleMs < 0) return requireKeys(cached);
    if (!this.#isLoading(cached)) return this.#load(issuer, allowsInsecure);
    if (staleMs >= STALE_TTL_MS || !isKeySet(cached.keys)) await this.#waitForLoad(cached);
    return requireKeys(cached);
  }

  /**
   * The keys again, for a token whose key is not among them. Undefined if they were read less than 30 s
   * ago. Keeps the cached keys if the issuer does not answer.
   */
  async reload(issuer: string, allowsInsecure: boolean): Promise<KeySet | undefined> {
    const cached = this.#issuers.get(issuer);
    if (!cached) return this.#load(issuer, allowsInsecure);
    if (this.#isLoading(cached)) {
      await this.#waitForLoad(cached);
      return requireKeys(cached);
    }
    if (this.#clock.now() < cached.requestedAt + RELOAD_INTERVAL_MS) return undefined;
    return this.#load(issuer, allowsInsecure);
  }

  async #load(issuer: string, allowsInsecure: boolean): Promise<KeySet> {
    const { keys, freshUntil = 0 } = this.#issuers.get(issuer) ?? {};
    const requestedAt = this.#clock.now();
    const cached: CachedKeys = { keys, freshUntil, requestedAt, isLoading: true };
    this.#issuers.set(issuer, cached);
    try {
      const loaded = await readIssuerKeys({ fetch: this.#fetch, allowsInsecure }, issuer);
      Object.assign(cached, { keys: loaded, freshUntil: this.#clock.now() + KEYS_TTL_MS });
      return loaded;
    } catch (error) {
      const now = this.#clock.now();
      if (error instanceof IssuerError && now >= cached.freshUntil) {
        Object.assign(cached, { keys: error, freshUntil: now + FAILURE_TTL_MS });
      }
      throw error;
    } finally {
      cached.isLoading = false;
    }
  }

  /** False for a load that never ends, because the client of its request has disconnected. */
  #isLoading({ isLoading, requestedAt }: CachedKeys): boolean {
    return isLoading && this.#clock.now() < requestedAt + LIMITS.issuerTimeoutMs.value;
  }

  /**
   * Polls, because a request must not await the I/O of another one, which may be canceled:
   * https://github.com/panva/jose/issues/355 and 509.
   */
  async #waitForLoad(cached: CachedKeys): Promise<void> {
    let remainingMs = LIMITS.issuerTimeoutMs.value;
    while (this.#isLoading(cached) && remainingMs > 0) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      remainingMs -= POLL_INTERVAL_MS;
    }
    if (cached.isLoading) throw new IssuerError("It does not answer in time");
  }
}

function isKeySet(keys: CachedKeys["keys"]): keys is KeySet {
  return keys !== undefined && !(keys instanceof IssuerError);
}

function requireKeys({ keys }: CachedKeys): KeySet {
  if (isKeySet(keys)) return keys;
  throw keys ?? new IssuerError("It cannot be reached");
}

/** `issuer` is compared with the tokens' `iss`, so it is kept exactly as it was sent. */
export function issuerProblem(issuer: string, allowsInsecure: boolean): string | undefined {
  if (issuer.includes("?")) return "Send an issuer without a query.";
  if (issuer.includes("#")) return "Send an issuer without a fragment.";
  return targetProblem(issuer, allowsInsecure);
}

/**
 * OpenID Connect Discovery 1.0, section 4, and RFC 7517.
 * @throws IssuerError unless the issuer has a key for RS256 or ES256.
 */
export async function readIssuerKeys(reader: Reader, issuer: string): Promise<KeySet> {
  if (issuerProblem(issuer, reader.allowsInsecure)) throw new IssuerError("Its URL is not allowed");
  const signal = AbortSignal.timeout(LIMITS.issuerTimeoutMs.value);
  const base = issuer.replace(/\/$/, "");
  const configuration = await readObject(
    reader,
    `${base}/.well-known/openid-configuration`,
    signal,
  );
  if (configuration["issuer"] !== issuer) {
    throw new IssuerError("Its configuration names another issuer");
  }
  const { jwks_uri } = configuration;
  if (typeof jwks_uri !== "string" || targetProblem(jwks_uri, reader.allowsInsecure)) {
    throw new IssuerError("The URL of its keys is not allowed");
  }
  const { keys } = await readObject(reader, jwks_uri, signal);
  return toKeySet(keys);
}

async function readObject(
  { fetch }: Reader,
  url: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const headers = { accept: "application/json" };
  const response = await fetch(url, { headers, redirect: "manual", signal }).catch(() => undefined);
  const isOk = response?.status === 200;
  if (!isOk) void response?.body?.cancel().catch(() => undefined);
  const text = isOk
    ? await readResponseBody(response, LIMITS.issuerResponseBytes.value, signal)
    : undefined;
  if (signal.aborted) throw new IssuerError("It does not answer in time");
  if (!response) throw new IssuerError("It cannot be reached");
  if (!isOk) throw new IssuerError("It does not answer with 200");
  const body = text === undefined ? undefined : parseObject(text);
  if (!body) throw new IssuerError("Its answer is too large, incomplete, or no JSON object");
  return body;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toKeySet(keys: unknown): KeySet {
  if (!Array.isArray(keys)) throw new IssuerError("Its answer has no list of keys");
  if (keys.length > LIMITS.issuerKeys.value) {
    throw new IssuerError(`It has more than ${LIMITS.issuerKeys.value} keys`);
  }
  const usable = keys.filter(isUsable);
  if (usable.length === 0) throw new IssuerError("It has no key for RS256 or ES256");
  return createLocalJWKSet({ keys: usable } as JSONWebKeySet);
}

function isUsable(key: unknown): boolean {
  if (typeof key !== "object" || key === null) return false;
  const { kty, crv, n, e, x, y, use, alg } = key as Record<string, unknown>;
  if (use !== undefined && use !== "sig") return false;
  if (kty === "EC") return crv === "P-256" && isText(x) && isText(y) && isOneOf(alg, "ES256");
  if (kty !== "RSA" || !isText(n) || !isText(e) || !isOneOf(alg, "RS256")) return false;
  const { minimum, maximum } = RSA_MODULUS;
  return n.length >= minimum && n.length <= maximum && e.length <= MAX_EXPONENT_LENGTH;
}

function isOneOf(alg: unknown, expected: string): boolean {
  return alg === undefined || alg === expected;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
