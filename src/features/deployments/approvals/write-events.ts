import { sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { writeOutbox } from "../../housekeeping/outbox/index.ts";
import type { Override } from "../conditions/index.ts";
import { FROM_DEPLOYMENTS, LOCATION } from "../deployments/index.ts";
import type { NewApproval } from "./store.ts";

const TYPE_OF_DECISION = { approve: "approvals.given", reject: "approvals.rejected" } as const;

/** Writes nothing unless the same batch has inserted the approval. */
export function writeApprovalEvent(ctx: SystemContext, { id, decision }: NewApproval) {
  const type = TYPE_OF_DECISION[decision];
  return writeOutbox(
    ctx,
    sql`select approval.id as key, deployments.project_id, ${type} as type,
        json_patch('{}', json_object(${LOCATION}, 'membership_id', approval.membership_id,
          'comment', approval.comment)) as data
      ${FROM_DEPLOYMENTS} join deployment_approvals as approval on approval.deployment_id = deployments.id
      where approval.id = ${id}`,
  );
}

/** Writes nothing unless the same batch has overridden the rules. */
export function writeOverrideEvent(ctx: SystemContext, id: string, override: Override) {
  const type = "deployments.overridden";
  const { conditions, reason, membership_id: membershipId } = override;
  return writeOutbox(
    ctx,
    sql`select deployments.id as key, deployments.project_id, ${type} as type,
        json_object(${LOCATION}, 'membership_id', ${membershipId}, 'reason', ${reason},
          'conditions', json(${JSON.stringify(conditions)})) as data
      ${FROM_DEPLOYMENTS} where deployments.id = ${id}
        and json_remove(deployments.overridden, '$.basis') = ${JSON.stringify(override)}`,
  );
}
