import { toTimestamp } from "../../../lib/clock.ts";
import type { Condition } from "../conditions/index.ts";
import type { PendingApprovalRow } from "./pending-store.ts";
import type { ApprovalRow } from "./store.ts";

export function presentApproval(row: ApprovalRow) {
  return {
    id: row.id,
    deployment_id: row.deploymentId,
    membership_id: row.membershipId,
    ...(row.name !== null && { name: row.name }),
    decision: row.decision,
    ...(row.comment !== null && { comment: row.comment }),
    digest: row.digest,
    created_at: toTimestamp(row.createdAt),
  };
}

export interface PendingApproval
  extends Omit<PendingApprovalRow, "facts" | "memberRole" | "isVerified"> {
  /** That are missing, and that the caller may give. */
  missing: Condition[];
}

export function presentPendingApproval({ missing, ...row }: PendingApproval) {
  const expiries = missing.flatMap(({ expiresAt }) => expiresAt ?? []);
  return {
    deployment_id: row.id,
    environment_id: row.environmentId,
    environment_name: row.environmentName,
    project_id: row.projectId,
    project_name: row.projectName,
    ...(row.source !== null && { source: JSON.parse(row.source) as object }),
    message: missing.map(({ message }) => message).join(" "),
    ...(expiries.length > 0 && { expires_at: toTimestamp(Math.min(...expiries)) }),
    created_at: toTimestamp(row.createdAt),
  };
}
