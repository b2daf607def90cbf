import { BadInput, Conflict } from "../../../lib/errors.ts";

/** Of the operation that reads a member. */
export const MEMBER_PATH = { path: "/v1/orgs/{org_id}/members/{member_id}" } as const;

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
