import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { createLocalJWKSet } from "jose/jwks/local";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Fetch, readResponseBody } from "../../lib/fetch.ts";
import { LIMITS } from "../../lib/limits.ts";
import { targetProblem } from "../notifications/integrations/index.ts";

const KEYS_TTL_MS = 600_000;
const FAILURE_TTL_MS = 10_000;
/** How often a token with an unknown `kid` may cause another request. */
const RELOAD_INTERVAL_MS = 30_000;
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
  keys: KeySet | IssuerError;
  cachedUntil: number;
  loadedAt: number;
  isReloading: boolean;
}

/** The keys of issuers, as this isolate has cached them. */
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
    if (!cached || this.#clock.now() >= cached.cachedUntil)
      return this.#load(issuer, allowsInsecure);
    if (cached.keys instanceof IssuerError) throw cached.keys;
    return cached.keys;
  }

  /**
   * The keys again, for a token whose key is not among them. Undefined if they were read less than 30 s
   * ago. Keeps the cached keys if the issuer does not answer.
   */
  async reload(issuer: string, allowsInsecure: boolean): Promise<KeySet | undefined> {
    const cached = this.#issuers.get(issuer);
    if (cached?.isReloading) return undefined;
    const now = this.#clock.now();
    if (cached && now < cached.loadedAt + RELOAD_INTERVAL_MS) return undefined;
    if (cached) Object.assign(cached, { isReloading: true, loadedAt: now });
    try {
      const keys = await readIssuerKeys({ fetch: this.#fetch, allowsInsecure }, issuer);
      this.#set(issuer, keys, KEYS_TTL_MS);
      return keys;
    } finally {
      if (cached) cached.isReloading = false;
    }
  }

  async #load(issuer: string, allowsInsecure: boolean): Promise<KeySet> {
    try {
      const keys = await readIssuerKeys({ fetch: this.#fetch, allowsInsecure }, issuer);
      this.#set(issuer, keys, KEYS_TTL_MS);
      return keys;
    } catch (error) {
      if (error instanceof IssuerError) this.#set(issuer, error, FAILURE_TTL_MS);
      throw error;
    }
  }

  #set(issuer: string, keys: KeySet | IssuerError, ttlMs: number): void {
    const now = this.#clock.now();
    const times = { cachedUntil: now + ttlMs, loadedAt: now };
    this.#issuers.set(issuer, { keys, ...times, isReloading: false });
  }
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
