import { toTimestamp } from "../../lib/clock.ts";
import type { MemberRow } from "./store.ts";

/** Without the e-mail address: that is between the account and us. */
export function presentMember(row: MemberRow) {
  return {
    membership_id: row.membershipId,
    account_id: row.accountId,
    org_id: row.organizationId,
    name: row.name,
    display_name: row.displayName,
    avatar: row.avatar ?? undefined,
    profile: row.profile,
    role: row.role,
    created_at: toTimestamp(row.createdAt),
  };
}
