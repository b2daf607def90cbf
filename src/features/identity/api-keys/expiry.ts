import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput } from "../../../lib/errors.ts";
import { IN_THE_PAST } from "../../../lib/time-messages.ts";

export interface ExpiryRules {
  now: number;
  /** Of the key that creates it. Null: that key does not expire. */
  latest: number | null;
  /** Of the organization. Null: keys may be of any age. */
  maximumAgeSeconds: number | null;
}

/** When a new key expires: by default as late as the rules allow. Null: never. */
export function resolveExpiry(requested: number | undefined, rules: ExpiryRules): number | null {
  const { now, latest, maximumAgeSeconds } = rules;
  const oldest = maximumAgeSeconds === null ? null : now + maximumAgeSeconds * 1000;
  if (requested === undefined) return earlier(latest, oldest);
  if (requested <= now) refuse(IN_THE_PAST);
  if (latest !== null && requested > latest) {
    refuse(`Send at most ${toTimestamp(latest)}: a key expires no later than its creator.`);
  }
  if (oldest !== null && requested > oldest) {
    refuse(`Send a time within ${maximumAgeSeconds} seconds, the organization's maximum age.`);
  }
  return requested;
}

interface Expiring {
  /** Null: never. */
  expiresAt: number | null;
  expiresByPolicy: boolean;
}

/**
 * Whether only the organization's maximum age imposes the expiry of a new key: nobody asked for it, and
 * the key that it comes from does not expire for another reason.
 */
export function isByPolicy(
  requested: number | undefined,
  expiresAt: number | null,
  origin: Expiring | undefined,
): boolean {
  if (requested !== undefined || expiresAt === null) return false;
  return !origin || origin.expiresAt === null || origin.expiresByPolicy;
}

/** Null is never. */
export function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** Null is never. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}

function refuse(message: string): never {
  throw new BadInput([{ path: "expires_at", message }]);
}
