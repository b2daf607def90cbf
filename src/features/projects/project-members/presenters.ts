import { toTimestamp } from "../../../lib/clock.ts";
import type { ProjectMemberRow } from "./store.ts";

export function presentProjectMember(row: ProjectMemberRow) {
  return {
    membership_id: row.membershipId,
    account_id: row.accountId,
    project_id: row.projectId,
    name: row.name,
    display_name: row.displayName,
    avatar: row.avatar ?? undefined,
    profile: row.profile,
    org_role: row.orgRole,
    role: row.role,
    created_at: toTimestamp(row.createdAt),
  };
}

export function presentProjectMembers(rows: readonly ProjectMemberRow[]) {
  return rows.map(presentProjectMember);
}
