import { and, eq, gt, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { listOf } from "../../../db/list-of.ts";
import { listSomeOrganizations } from "../../../db/some-organizations.ts";
import { makersOf } from "../../identity/credentials/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { BASIS, FACTS } from "../conditions/index.ts";
import type { EnvironmentId } from "./store.ts";
import { deploymentStatus, deployments } from "./table.ts";
import { exemptionOf } from "./transitions/create.ts";
import { waitingFor } from "./waiting-store.ts";

export type PendingRow = Awaited<ReturnType<typeof findPending>>[number];

const IS_QUEUED = sql`${deployments.status} = ${deploymentStatus.queued}`;

/** A queued deployment with what its content results from, and the contents of its outdated approvals. */
export function findPending(db: Database, organizationId: string, id: string) {
  return db
    .select({
      facts: FACTS.as("facts"),
      basis: sql<string>`${BASIS}`.as("basis"),
      patch: deployments.patch,
      isAbsolute: deployments.isAbsolute,
      ownConfiguration: sql<string>`${deployments.configuration}`.as("own_configuration"),
      currentConfiguration: sql<string>`${environments.configuration}`.as("current_configuration"),
      currentVersion: sql<number>`${environments.configurationVersion}`.as("current_version"),
      approved: sql<string>`(select json_group_array(approval.content)
        from deployment_approvals as approval
        where approval.deployment_id = deployments.id and approval.decision = 'approve'
          and approval.basis <> ${BASIS})`.as("approved"),
    })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id), IS_QUEUED));
}

/** Of deployments that have succeeded. Empty: no longer stored. */
export function listConfigurations(db: Database, organizationId: string, ids: readonly string[]) {
  return db
    .select({ id: deployments.id, configuration: deployments.configuration })
    .from(deployments)
    .where(
      sql`${deployments.organizationId} = ${organizationId} and ${deployments.id} in ${listOf(ids)}`,
    );
}

const EVALUATED = {
  id: deployments.id,
  organizationId: deployments.organizationId,
  evaluatedAt: deployments.evaluatedAt,
  awaitsApproval: deployments.awaitsApproval,
  facts: FACTS.as("facts"),
};

const IS_HELD = sql`${IS_QUEUED} and ${deployments.heldUntil} is not 0`;

export function listHeldOrganizations(db: Database, limit: number): Promise<string[]> {
  return listSomeOrganizations(db, deployments, IS_HELD, limit);
}

/** Of an organization. Those that were evaluated first come first. */
export function listHeld(
  db: Database,
  { organizationId, now, limit }: { organizationId: string; now: number; limit: number },
) {
  return db
    .select(EVALUATED)
    .from(deployments)
    .where(
      sql`${deployments.organizationId} = ${organizationId} and ${IS_HELD}
        and (${deployments.evaluatedAt} is null or ${deployments.evaluatedAt} < ${now})`,
    )
    .orderBy(deployments.evaluatedAt)
    .limit(limit);
}

export type EvaluatedFilter = { deployment: string } | { environment: string };

/** In the order of their IDs. */
export function listQueuedOf(db: Database, filter: EvaluatedFilter, after: string, limit: number) {
  const isOne =
    "deployment" in filter
      ? eq(deployments.id, filter.deployment)
      : eq(deployments.environmentId, filter.environment);
  return db
    .select(EVALUATED)
    .from(deployments)
    .where(and(IS_QUEUED, isOne, gt(deployments.id, after)))
    .orderBy(deployments.id)
    .limit(limit);
}

/** A deployment that a preview is of. */
export interface ProspectiveDeployment {
  environmentId: EnvironmentId;
  /** JSON. */
  source: string | null | SQL;
  keepsSource: boolean;
  /** Undefined: it is no redeployment. */
  redeployedId?: string;
  /** Whether it runs after those that are queued. Absent: it supersedes them. */
  isLast?: boolean;
}

/** What it would wait for, if the caller created it now. */
export function findProspective(
  { db, actor, clock }: Pick<ServiceContext, "db" | "actor" | "clock">,
  { environmentId, source, keepsSource, redeployedId, isLast }: ProspectiveDeployment,
) {
  const { organizationId, keyId, membershipId } = actor;
  // What it waits for is read from the table `deployments`, which this stands for.
  const prospective = sql`(select '' as id, 'queued' as status, environments.id as environment_id,
      environments.organization_id, environments.project_id, ${clock.now()} as created_at, '[]' as kept_rules,
      ${isLast === true ? Number.MAX_SAFE_INTEGER : 0} as number, ${source} as source, ${keepsSource} as keeps_source, null as overridden,
      ${makersOf(keyId, membershipId)} as creators,
      ${redeployedId === undefined ? sql`null` : exemptionOf(redeployedId)} as exempt,
      (select key.claims from api_keys as key where key.id = ${keyId}) as claims
    from environments where environments.id = ${environmentId}
      and environments.organization_id = ${organizationId}) as deployments`;
  return db.select({ waitingFor: waitingFor(clock.now()) }).from(prospective);
}
