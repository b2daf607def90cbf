import { toTimestamp } from "../../../lib/clock.ts";
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
