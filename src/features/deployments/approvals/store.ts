import { and, eq, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { hasFacts, isVerified } from "../conditions/index.ts";
import { deploymentStatus, deployments } from "../deployments/table.ts";
import { deploymentApprovals } from "./table.ts";

export type ApprovalRow = Awaited<ReturnType<typeof listApprovals>>[number];
export type NewApproval = typeof deploymentApprovals.$inferSelect;

const APPROVAL = {
  id: sql<string>`${deploymentApprovals.id}`.as("approval_id"),
  deploymentId: deploymentApprovals.deploymentId,
  membershipId: deploymentApprovals.membershipId,
  name: sql<string | null>`${accounts.displayName}`.as("member_name"),
  decision: deploymentApprovals.decision,
  comment: deploymentApprovals.comment,
  digest: deploymentApprovals.digest,
  createdAt: sql<number>`${deploymentApprovals.createdAt}`.as("approval_created_at"),
};

const isOf = (organizationId: string, deploymentId: string) =>
  and(
    eq(deploymentApprovals.organizationId, organizationId),
    eq(deploymentApprovals.deploymentId, deploymentId),
  );

function select(db: Database) {
  return db
    .select(APPROVAL)
    .from(deploymentApprovals)
    .leftJoin(memberships, eq(memberships.id, deploymentApprovals.membershipId))
    .leftJoin(accounts, eq(accounts.id, memberships.accountId));
}

/** The newest first. */
export function listApprovals(db: Database, organizationId: string, deploymentId: string) {
  return select(db)
    .where(isOf(organizationId, deploymentId))
    .orderBy(sql`approval_created_at desc, approval_id desc`);
}

export function findApproval(db: Database, { organizationId, id }: NewApproval) {
  return select(db).where(
    and(eq(deploymentApprovals.organizationId, organizationId), eq(deploymentApprovals.id, id)),
  );
}

export function findApprover(
  db: Database,
  { organizationId, membershipId }: Actor,
  deploymentId: string,
) {
  return db
    .select({ isVerified: sql<0 | 1>`${isVerified(membershipId)}`.as("is_verified") })
    .from(deployments)
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, deploymentId)));
}

/** Replaces an earlier one of the person. Inserts nothing if something has changed of what was evaluated. */
export function insertApproval(db: Database, approval: NewApproval, facts: string) {
  const { id, decision, comment, configurationDigest, digest, basis, content, createdAt } =
    approval;
  return insertFrom(
    db,
    deploymentApprovals,
    approval,
    sql`from deployments where deployments.id = ${approval.deploymentId}
      and deployments.status = ${deploymentStatus.queued} and ${hasFacts(facts)}`,
  )
    .onConflictDoUpdate({
      target: [deploymentApprovals.deploymentId, deploymentApprovals.membershipId],
      set: { id, decision, comment, configurationDigest, digest, basis, content, createdAt },
    })
    .returning({ id: deploymentApprovals.id });
}

export function approvalCountBound({ deploymentId, membershipId }: NewApproval): Bound {
  const count = sql`(select count(*) from deployment_approvals as given
    where given.deployment_id = ${deploymentId})`;
  return {
    what: "approvals of a deployment",
    limit: LIMITS.approvalsOfDeployment.value,
    before: count,
    after: sql`${count} + iif(exists (select 1 from deployment_approvals as own
      where own.deployment_id = ${deploymentId} and own.membership_id = ${membershipId}), 0, 1)`,
  };
}
