import { BadInput, Conflict } from "../../lib/errors.ts";

export const MEMBER_KINDS = ["person", "service_account"] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

export const MEMBER_STATUSES = ["active", "pending"] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** What happens to the family of a credential that ends. */
export const DESCENDANTS_OPTIONS = ["revoke", "keep"] as const;
export type DescendantsOption = (typeof DESCENDANTS_OPTIONS)[number];

/** Of the operation that reads a member. */
export const MEMBER_PATH = { path: "/v1/orgs/{org_id}/members/{member_id}" } as const;

export const LAST_OWNER_KEY = new Conflict(
  "The organization would keep no owner's key without an expiration date. Create one first: POST " +
    "/v1/orgs/{org_id}/api-keys for an owner, with the role owner and without expires_at.",
);

export const LAST_OWNER = new Conflict(
  "The organization and each of its projects need at least one owner. Make another member owner " +
    "first.",
);

export const CREATOR_CHANGED = new Conflict(
  "The credential that adds the member has just changed. Retry.",
);

export const ROLE_CHANGED = new Conflict(
  "The member's role has just changed. Read it again and retry.",
);

export const MEMBER_EXISTS = new Conflict(
  "The account of this e-mail address is already a member of the organization.",
);

export const PENDING_MEMBER = new Conflict(
  "The membership is pending: it has no keys and no projects until the person has signed in with " +
    "the e-mail address and accepted it.",
);

export const SERVICE_ACCOUNT_AS_OWNER = new BadInput([
  { path: "role", message: "A service account cannot be an owner. Send admin or member." },
]);
