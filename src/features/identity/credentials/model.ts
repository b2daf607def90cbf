import { Conflict } from "../../../lib/errors.ts";

/** How the person signed in. */
export const SESSION_SOURCES = ["api_key", "sign_in_link", "open_id_connect"] as const;

/** The value that a token claim must have, or a list of which it must have one. */
export type TrustConditions = Record<string, string | string[]>;

/** What happens to the family of a credential that ends. */
export const DESCENDANTS_OPTIONS = ["revoke", "keep"] as const;
export type DescendantsOption = (typeof DESCENDANTS_OPTIONS)[number];

export const LAST_OWNER_KEY = new Conflict(
  "The organization would keep no owner's key without an expiration date. Create one first: POST " +
    "/v1/orgs/{org_id}/api-keys for an owner, with the role owner and without expires_at.",
);
