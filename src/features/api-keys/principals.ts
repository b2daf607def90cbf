import type { Actor } from "../../context.ts";
import { type Database, openForReading, openForWriting } from "../../db/client.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { lowerOrgRole } from "../../lib/roles.ts";
import type { PresentedKey } from "./format.ts";
import { findPrincipal, recordUse } from "./store.ts";

const REMEMBER_MS = 30_000;
const REMEMBERED_KEYS = 10_000;
const HOUR_MS = 3_600_000;

/** A key that exists, as it was when it was read. */
export interface Principal extends Actor {
  version: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

interface Entry {
  /** Undefined: there is no such key, and never will be, for a secret is made with its key. */
  principal: Principal | undefined;
  until: number;
}

/** What an isolate remembers of the keys it has met, each for 30 s. */
export class Principals {
  readonly #clock: Clock;
  readonly #entries = new BoundedMap<string, Entry>(REMEMBERED_KEYS);
  /** Kept apart: keys that somebody makes up must not push out those that are good. */
  readonly #unknown = new BoundedMap<string, Entry>(REMEMBERED_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the key is remembered, as somebody's or as nobody's: then `find` asks nobody. */
  remembers(key: PresentedKey): boolean {
    return this.#recall(key) !== undefined;
  }

  /** Whom the key stands for, or undefined if it is unknown, revoked or expired. */
  async find(d1: D1Database, key: PresentedKey): Promise<Principal | undefined> {
    const entry = this.#recall(key);
    if (entry) return this.#unexpired(entry.principal);
    const nearby = await load(openForReading(d1).db, key);
    // A replica may not have heard of a key that is new: only the primary can say no.
    return nearby ? this.#remember(key, nearby) : this.refresh(d1, key);
  }

  /** The same, as the primary has it now. */
  async refresh(d1: D1Database, key: PresentedKey): Promise<Principal | undefined> {
    return this.#remember(key, await load(openForWriting(d1).db, key));
  }

  /** Whether a request now is the first of its hour, which `last_used_at` is kept to. */
  isNewUse(principal: Principal): boolean {
    return (principal.lastUsedAt ?? 0) < this.#hour();
  }

  /** Notes the hour: a write for the first request of each. */
  async recordUse(d1: D1Database, principal: Principal): Promise<void> {
    principal.lastUsedAt = this.#hour();
    await recordUse(openForWriting(d1).db, principal.keyId, principal.lastUsedAt);
  }

  #hour(): number {
    return Math.floor(this.#clock.now() / HOUR_MS) * HOUR_MS;
  }

  #recall({ id, secretHash }: PresentedKey): Entry | undefined {
    const name = `${id}:${secretHash}`;
    const entry = this.#entries.get(name) ?? this.#unknown.get(name);
    return entry && this.#clock.now() < entry.until ? entry : undefined;
  }

  #remember(
    { id, secretHash }: PresentedKey,
    principal: Principal | undefined,
  ): Principal | undefined {
    const name = `${id}:${secretHash}`;
    const entry = { principal, until: this.#clock.now() + REMEMBER_MS };
    this.#entries.delete(name);
    (principal ? this.#entries : this.#unknown).set(name, entry);
    return this.#unexpired(principal);
  }

  #unexpired(principal: Principal | undefined): Principal | undefined {
    const expiresAt = principal?.expiresAt ?? Number.POSITIVE_INFINITY;
    return this.#clock.now() < expiresAt ? principal : undefined;
  }
}

async function load(db: Database, key: PresentedKey): Promise<Principal | undefined> {
  const [row] = await findPrincipal(db, { id: key.id, secretHash: key.secretHash });
  if (!row) return undefined;
  const { keyRole, membershipRole, ...rest } = row;
  return { ...rest, role: lowerOrgRole(keyRole, membershipRole) };
}
