export const KEY_STATUSES = ["active", "revoked"] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** What happens to the keys that descend from a revoked key. */
export const DESCENDANTS_OPTIONS = ["revoke", "keep"] as const;
export type DescendantsOption = (typeof DESCENDANTS_OPTIONS)[number];

export const HAS_DESCENDANTS =
  "Keys, trusts or runner tokens descend from this key. Send descendants=revoke to revoke them, " +
  "too, or descendants=keep.";

export const CREATOR_CHANGED =
  "The key that creates it was just revoked, or expires earlier now. Retry.";

export const NAME_CHANGED = "The key has just been renamed. Read it again and retry.";

export const KEY_CHANGED = "The key has just changed, or the one that rotates it. Retry.";

export const OUTLIVED =
  "A key that descends from this key expires later than expires_at. Send a later time, or revoke " +
  "that key first.";

export const TRUST_KEY = "A key of a trust is not rotated. Exchange a new token instead.";
