import type { ActorSession } from "../actor.ts";
import { type Database, openForReading, openForWriting } from "../db/client.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import type { PresentedKey } from "./credentials.ts";

export const CACHE_TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;
const HOUR_MS = 3_600_000;

export interface Principal {
  keyId: string;
  organizationId: string;
  /** Whose windows and budget its requests count against: its own, or that of the organization that founded it. */
  limitsOrganizationId: string;
  /**
   * Whose requests count together in the organization's window: the membership of a key, the trust of
   * a key that an exchange has made, or the pool of a runner token.
   */
  consumerId: string;
  version: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  /** The object of its key limits a session, and has the version. Absent: not a session. */
  session?: ActorSession & { keySecretHash: string };
}

export interface CredentialStore<P extends Principal> {
  find(db: Database, key: PresentedKey): Promise<P | undefined>;
  /** The time from which the credential is refused, unless it is used before. Null: never. */
  endOf(principal: P): number | null;
  /** The time to record as that of the last use. Undefined: the recorded one is recent. */
  useToSave(principal: P, now: number): number | undefined;
  saveUse(db: Database, principal: P, time: number): Promise<void>;
}

/** Of a key or a token, which does not end by not being used, and whose last use is kept to the hour. */
export const HOURLY_USE = {
  endOf: ({ expiresAt }: Principal) => expiresAt,
  useToSave({ lastUsedAt }: Principal, now: number) {
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    return (lastUsedAt ?? 0) < hour ? hour : undefined;
  },
};

interface CacheEntry<P> {
  /** Undefined if the key does not exist. It cannot exist later: a key is made with its secret. */
  principal: P | undefined;
  cachedUntil: number;
}

export class CredentialCache<P extends Principal> {
  readonly #store: CredentialStore<P>;
  readonly #clock: Clock;
  readonly #entries = new BoundedMap<string, CacheEntry<P>>(MAX_ENTRIES);
  /** A separate map, so that made-up keys cannot evict valid ones. */
  readonly #unknownKeys = new BoundedMap<string, CacheEntry<P>>(MAX_ENTRIES);

  constructor(store: CredentialStore<P>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Undefined if the key is not cached. Its principal is undefined like that of `find`. */
  cached(key: PresentedKey): { principal: P | undefined } | undefined {
    const entry = this.#get(key);
    return entry && { principal: this.#unlessExpired(entry.principal) };
  }

  /** Undefined if the key is unknown, revoked or expired. */
  async find(d1: D1Database, key: PresentedKey): Promise<P | undefined> {
    const cached = this.cached(key);
    if (cached) return cached.principal;
    const replicated = await this.#store.find(openForReading(d1).db, key);
    // A replica may not have a new key yet, so the primary decides whether a key is unknown.
    return replicated ? this.#set(key, replicated) : this.refresh(d1, key);
  }

  /** Reads from the primary. */
  async refresh(d1: D1Database, key: PresentedKey): Promise<P | undefined> {
    return this.#set(key, await this.#store.find(openForWriting(d1).db, key));
  }

  /** Undefined if the last use that is recorded is recent. */
  saveUse(d1: D1Database, principal: P): Promise<void> | undefined {
    const time = this.#store.useToSave(principal, this.#clock.now());
    if (time === undefined) return undefined;
    principal.lastUsedAt = time;
    return this.#store.saveUse(openForWriting(d1).db, principal, time);
  }

  #get({ id, secretHash }: PresentedKey): CacheEntry<P> | undefined {
    const name = `${id}:${secretHash}`;
    const entry = this.#entries.get(name) ?? this.#unknownKeys.get(name);
    return entry && this.#clock.now() < entry.cachedUntil ? entry : undefined;
  }

  #set({ id, secretHash }: PresentedKey, principal: P | undefined): P | undefined {
    const name = `${id}:${secretHash}`;
    const entry = { principal, cachedUntil: this.#clock.now() + CACHE_TTL_MS };
    this.#entries.delete(name);
    (principal ? this.#entries : this.#unknownKeys).set(name, entry);
    return this.#unlessExpired(principal);
  }

  #unlessExpired(principal: P | undefined): P | undefined {
    const end = (principal && this.#store.endOf(principal)) ?? Number.POSITIVE_INFINITY;
    return this.#clock.now() < end ? principal : undefined;
  }
}
