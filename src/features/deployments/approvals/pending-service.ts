import { requireOrganization } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { type Facts, findGivable, isExpired } from "../conditions/index.ts";
import { listWaiting } from "./pending-store.ts";
import type { PendingApproval } from "./presenters.ts";

/** The deployments that wait for the caller's approval. None, with a credential that approves nothing. */
export async function listPendingApprovals(
  ctx: ServiceContext,
  organizationId: string,
  deploymentId: string | undefined,
): Promise<PendingApproval[]> {
  const { actor, db, clock } = ctx;
  requireOrganization(actor, organizationId);
  const rows = await listWaiting(db, actor, deploymentId);
  if (!actor.isOwnKey || actor.scopes !== null) return [];
  const now = clock.now();
  return rows.flatMap(({ facts, memberRole, ...row }) => {
    const { membershipId, role: orgRole } = actor;
    const member = { membershipId, orgRole, projectRole: memberRole };
    const missing = findGivable(JSON.parse(facts) as Facts, member);
    return missing.length === 0 || isExpired(missing, now) ? [] : [{ ...row, missing }];
  });
}
