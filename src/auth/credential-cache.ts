import { type Database, openForReading, openForWriting } from "../db/client.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import type { PresentedKey } from "./credentials.ts";

const REMEMBER_MS = 30_000;
const REMEMBERED_KEYS = 10_000;
const HOUR_MS = 3_600_000;

/** Whom a credential stands for, as it was when it was read. */
export interface Principal {
  /** The credential. */
  keyId: string;
  organizationId: string;
  version: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

/** Where credentials of one kind are looked up. */
export interface CredentialStore<P extends Principal> {
  find(db: Database, key: PresentedKey): Promise<P | undefined>;
  recordUse(db: Database, keyId: string, hour: number): Promise<void>;
}

interface Entry<P> {
  /** Undefined: there is no such key, and never will be, for a secret is made with its key. */
  principal: P | undefined;
  until: number;
}

/** What an isolate remembers of the keys it has met, each for 30 s. */
export class CredentialCache<P extends Principal> {
  readonly #ring: CredentialStore<P>;
  readonly #clock: Clock;
  readonly #entries = new BoundedMap<string, Entry<P>>(REMEMBERED_KEYS);
  /** Kept apart: keys that somebody makes up must not push out those that are good. */
  readonly #unknown = new BoundedMap<string, Entry<P>>(REMEMBERED_KEYS);

  constructor(ring: CredentialStore<P>, clock: Clock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** Whether the key is remembered, as somebody's or as nobody's: then `find` asks nobody. */
  remembers(key: PresentedKey): boolean {
    return this.#recall(key) !== undefined;
  }

  /** Whom the key stands for, or undefined if it is unknown, revoked or expired. */
  async find(d1: D1Database, key: PresentedKey): Promise<P | undefined> {
    const entry = this.#recall(key);
    if (entry) return this.#unexpired(entry.principal);
    const nearby = await this.#ring.find(openForReading(d1).db, key);
    // A replica may not have heard of a key that is new: only the primary can say no.
    return nearby ? this.#remember(key, nearby) : this.refresh(d1, key);
  }

  /** The same, as the primary has it now. */
  async refresh(d1: D1Database, key: PresentedKey): Promise<P | undefined> {
    return this.#remember(key, await this.#ring.find(openForWriting(d1).db, key));
  }

  /** Whether a request now is the first of its hour, which `last_used_at` is kept to. */
  isNewUse(principal: P): boolean {
    return (principal.lastUsedAt ?? 0) < this.#hour();
  }

  /** Notes the hour: a write for the first request of each. */
  async recordUse(d1: D1Database, principal: P): Promise<void> {
    principal.lastUsedAt = this.#hour();
    await this.#ring.recordUse(openForWriting(d1).db, principal.keyId, principal.lastUsedAt);
  }

  #hour(): number {
    return Math.floor(this.#clock.now() / HOUR_MS) * HOUR_MS;
  }

  #recall({ id, secretHash }: PresentedKey): Entry<P> | undefined {
    const name = `${id}:${secretHash}`;
    const entry = this.#entries.get(name) ?? this.#unknown.get(name);
    return entry && this.#clock.now() < entry.until ? entry : undefined;
  }

  #remember({ id, secretHash }: PresentedKey, principal: P | undefined): P | undefined {
    const name = `${id}:${secretHash}`;
    const entry = { principal, until: this.#clock.now() + REMEMBER_MS };
    this.#entries.delete(name);
    (principal ? this.#entries : this.#unknown).set(name, entry);
    return this.#unexpired(principal);
  }

  #unexpired(principal: P | undefined): P | undefined {
    const expiresAt = principal?.expiresAt ?? Number.POSITIVE_INFINITY;
    return this.#clock.now() < expiresAt ? principal : undefined;
  }
}
