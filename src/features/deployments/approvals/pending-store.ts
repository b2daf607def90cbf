import { and, eq, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import type { ApproverVerifier } from "../../../lib/settings.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { FACTS_OF_APPROVALS, isVerified, mayApprove } from "../conditions/index.ts";
import { deploymentStatus, deployments } from "../deployments/table.ts";

export type PendingApprovalRow = Awaited<ReturnType<typeof listSome>>[number];

/** The plus, here and below, keeps SQLite from an index that has more rows. */
const IS_HELD = sql`deployments.status = ${deploymentStatus.queued} and +deployments.held_until is not 0`;

/** Of one statement, so that none takes long: the stacks of each are read. */
const WAITING_AT_ONCE = 20;

/** Of the projects that the actor can read, the newest that wait where the actor may approve. */
export async function listWaiting(
  db: Database,
  actor: Actor,
  searched: Pick<Part, "deploymentId" | "verifier">,
) {
  const found: PendingApprovalRow[] = [];
  let part: PendingApprovalRow[];
  do {
    part = await listSome(db, actor, { ...searched, after: found.at(-1) });
    found.push(...part);
  } while (part.length === WAITING_AT_ONCE && found.length < LIMITS.pendingApprovals.value);
  return found;
}

interface Part {
  deploymentId: string | undefined;
  verifier: ApproverVerifier;
  after: { createdAt: number; id: string } | undefined;
}

/** They are found before what is known of each is read. */
function listSome(db: Database, actor: Actor, { deploymentId, verifier, after }: Part) {
  const { organizationId, role } = actor;
  const isSearched =
    deploymentId === undefined
      ? sql`deployments.rowid in (select deployments.rowid from deployments
          where deployments.organization_id = ${organizationId} and ${IS_HELD}
          order by deployments.created_at desc, deployments.id desc limit ${LIMITS.searchedRows.value})`
      : sql`deployments.id = ${deploymentId} and ${IS_HELD}`;
  const member = sql`from ${projectMembers} where ${isRoleOf(actor, deployments.projectId)}`;
  const isReadable = orgRoleReaches(role, "admin") ? sql`true` : sql`exists (select 1 ${member})`;
  const projectRole = sql`(select ${projectMembers.role} ${member})`;
  const isGivable = mayApprove(actor, projectRole, verifier);
  const isLater = after
    ? sql`(deployments.created_at, deployments.id) < (${after.createdAt}, ${after.id})`
    : sql`true`;
  const waiting = sql`(select deployments.rowid from deployments
    where +deployments.organization_id = ${organizationId} and ${isSearched} and ${isLater} and ${isReadable} and ${isGivable}
    order by deployments.created_at desc, deployments.id desc limit ${WAITING_AT_ONCE})`;
  return db
    .select({
      id: sql<string>`${deployments.id}`.as("deployment_id"),
      environmentId: deployments.environmentId,
      environmentName: sql<string>`${environments.name}`.as("environment_name"),
      projectId: deployments.projectId,
      projectName: sql<string>`${projects.name}`.as("project_name"),
      source: deployments.source,
      createdAt: sql<number>`${deployments.createdAt}`.as("deployment_created_at"),
      facts: FACTS_OF_APPROVALS.as("facts"),
      isVerified: sql<0 | 1>`${isVerified(actor.membershipId)}`.as("is_verified"),
      memberRole: MEMBER_ROLE,
    })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .innerJoin(projects, eq(projects.id, deployments.projectId))
    .leftJoin(projectMembers, isRoleOf(actor, deployments.projectId))
    .where(
      and(
        sql`+${deployments.organizationId} = ${organizationId}`,
        eq(environments.organizationId, organizationId),
        eq(projects.organizationId, organizationId),
        sql`${deployments}.rowid in ${waiting}`,
      ),
    )
    .orderBy(sql`deployment_created_at desc, deployment_id desc`);
}
