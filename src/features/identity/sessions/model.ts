import { Conflict } from "../../../lib/errors.ts";

export const SESSION_STATUSES = ["active", "ended"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SESSION_TTL_MS = 7 * 24 * 3_600_000;
export const SESSION_IDLE_MS = 12 * 3_600_000;

/** The last use is written at most this often, so a session may end that much earlier. */
export const USE_INTERVAL_MS = 5 * 60_000;

export const SIGN_IN_LINK_TTL_MS = 10 * 60_000;

/** Of the path to a page, where the token follows. */
export const SIGN_IN_PATH = "/sign-in";

/** What the limit `signInLinksOfKey` counts. */
export const UNUSED_LINKS = "unused sign-in links of a key";

export const CREATOR_ENDED = new Conflict(
  "The key or the session that creates it has just changed. Retry.",
);
