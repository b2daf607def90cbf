export const MEMBER_KINDS = ["person", "service_account"] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

export const MEMBER_STATUSES = ["active", "pending"] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** What happens to the family of a credential that ends. */
export const DESCENDANTS_OPTIONS = ["revoke", "keep"] as const;
export type DescendantsOption = (typeof DESCENDANTS_OPTIONS)[number];

/** Of the operation that reads a member. */
export const MEMBER_PATH = { path: "/v1/orgs/{org_id}/members/{member_id}" } as const;

export const LAST_OWNER_KEY =
  "The organization would keep no owner's key without an expiration date. Create one first: POST " +
  "/v1/orgs/{org_id}/api-keys for an owner, with the role owner and without expires_at.";
