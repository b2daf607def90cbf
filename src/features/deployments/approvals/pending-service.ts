import { requireOrganization } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { approverVerifier } from "../../../lib/settings.ts";
import { type Facts, findGivable, isExpired } from "../conditions/index.ts";
import { listWaiting } from "./pending-store.ts";
import type { PendingApproval } from "./presenters.ts";

/** The deployments that wait for the caller's approval. None, with a credential that approves nothing. */
export async function listPendingApprovals(
  ctx: ServiceContext,
  organizationId: string,
  deploymentId: string | undefined,
): Promise<PendingApproval[]> {
  const { actor, db, clock, settings } = ctx;
  const verifier = approverVerifier(settings);
  requireOrganization(actor, organizationId);
  const rows = await listWaiting(db, actor, { deploymentId, verifier });
  if (!actor.isOwnKey || actor.scopes !== null) return [];
  const now = clock.now();
  return rows.flatMap(({ facts, memberRole, isVerified, ...row }) => {
    const { membershipId, role: orgRole } = actor;
    const member = { membershipId, orgRole, projectRole: memberRole, isVerified };
    const missing = findGivable(JSON.parse(facts) as Facts, member, verifier);
    return missing.length === 0 || isExpired(missing, now) ? [] : [{ ...row, missing }];
  });
}
