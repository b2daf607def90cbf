import { Conflict } from "../../../lib/errors.ts";

export const KEY_STATUSES = ["active", "revoked"] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const POLICY_CHANGED = new Conflict(
  "The rules have just changed. Read them again and retry.",
);

export const HAS_DESCENDANTS = new Conflict(
  "This key has a family: keys, trusts, runner tokens or invitations that were made with it. Send " +
    "descendants=revoke to end them, too, or descendants=keep.",
);

export const CREATOR_CHANGED = new Conflict(
  "The key that creates it was just revoked, or has less now. Retry.",
);

export const NAME_CHANGED = new Conflict("The key has just been renamed. Read it again and retry.");

export const KEY_CHANGED = new Conflict(
  "The key has just changed, or the one that rotates it. Retry.",
);

export const OUTLIVED = new Conflict(
  "A key that descends from this key expires later than expires_at. Send a later time, or revoke " +
    "that key first.",
);

export const KEY_NARROWED = new Conflict("The key has just changed. Read it again and retry.");

export const DESCENDANT_OUTLIVES = new Conflict(
  "A key, a trust or a runner token that descends from this key lasts longer than expires_at. Send a " +
    "later time, or first revoke what lasts longer, or let it expire earlier.",
);

export const DESCENDANT_EXCEEDS = new Conflict(
  "A key (also an expired one), a trust or a runner token that descends from this key can access more " +
    "than the key would. Send more, or first narrow or revoke what can access more.",
);

export const OUTSIDE_PROJECTS = "Send environments of the key's projects only.";

/** By field: a key can only be narrowed. */
export const KEEP_AT_MOST = {
  scopes: "Send the scopes that the key keeps, out of those that it has now.",
  project_ids: "Send the projects that the key keeps, out of those that it can access now.",
  environment_ids: "Send the environments that the key keeps, out of those that it can access now.",
} as const;

export const TRUST_KEY = new Conflict(
  "A key of a trust is not rotated. Exchange a new token instead.",
);
