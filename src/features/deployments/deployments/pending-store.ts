import { and, eq, gt, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { listSomeOrganizations } from "../../../db/some-organizations.ts";
import { makersOf } from "../../identity/credentials/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { STACK_ORDER } from "../../tenancy/stack-table.ts";
import { BASIS, FACTS, selectFacts } from "../conditions/index.ts";
import type { Resulting } from "./content.ts";
import type { EnvironmentId } from "./store.ts";
import { deploymentStatus, deployments } from "./table.ts";
import { exemptionOf } from "./transitions/create.ts";
import { waitingFor } from "./waiting-store.ts";

const IS_QUEUED = sql`${deployments.status} = ${deploymentStatus.queued}`;

/** A queued deployment with what its content results from. */
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
    })
    .from(deployments)
    .innerJoin(environments, eq(environments.id, deployments.environmentId))
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id), IS_QUEUED));
}

export function selectQueuedFacts(db: Database, organizationId: string, id: string) {
  return db
    .select({ facts: FACTS.as("facts") })
    .from(deployments)
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id), IS_QUEUED));
}

/** Each is valid only for the version of the configuration that it names. */
export function storeResulting(db: Database, organizationId: string, id: string, found: Resulting) {
  return db
    .update(deployments)
    .set({ resulting: JSON.stringify(found) })
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id), IS_QUEUED));
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
export interface HeldRange {
  organizationId: string;
  /** Deployments that were evaluated before this time. */
  now: number;
  limit: number;
}

const isDue = ({ organizationId, now }: HeldRange) =>
  sql`${deployments.organizationId} = ${organizationId} and ${IS_HELD}
    and (${deployments.evaluatedAt} is null or ${deployments.evaluatedAt} < ${now})`;

export function listHeld(db: Database, range: HeldRange) {
  return db
    .select(EVALUATED)
    .from(deployments)
    .where(isDue(range))
    .orderBy(deployments.evaluatedAt)
    .limit(range.limit);
}

/** Deployments that `listHeld` lists come after all others, and may start as before. */
export function postponeHeld(db: Database, range: HeldRange) {
  const first = sql`(select rowid from deployments where ${isDue(range)}
    order by evaluated_at limit ${range.limit})`;
  return db
    .update(deployments)
    .set({ evaluatedAt: range.now })
    .where(sql`${deployments}.rowid in ${first}`);
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
  /** The stacks, as `id` and `position`. */
  stacks: SQL;
  /** Whether it runs after those that are queued. Absent: it supersedes them. */
  isLast?: boolean;
}

/** The stacks of a prospective deployment. */
export const prospectiveStacks = {
  listed: (ids: readonly string[]): SQL =>
    sql`(select item.value as id, item.key as position from json_each(${JSON.stringify(ids)}) as item)`,
  ofEnvironment: (id: string): SQL =>
    sql`(select stacks.id, row_number() over (order by ${STACK_ORDER}) as position
      from stacks where stacks.environment_id = ${id})`,
  ofDeployment: (id: string): SQL =>
    sql`(select copied.stack_id as id, copied.position from deployment_stacks as copied where copied.deployment_id = ${id})`,
};

/** What it would wait for, if the caller created it now. */
export function findProspective(
  { db, actor, clock }: Pick<ServiceContext, "db" | "actor" | "clock">,
  { environmentId, source, keepsSource, redeployedId, stacks, isLast }: ProspectiveDeployment,
) {
  const { organizationId, keyId, membershipId } = actor;
  // What it waits for is read from the table `deployments`, which this stands for.
  const prospective = sql`(select '' as id, 'queued' as status, environments.id as environment_id,
      environments.organization_id, environments.project_id, ${clock.now()} as created_at, '[]' as kept_rules,
      ${isLast === true ? Number.MAX_SAFE_INTEGER : 0} as number, ${source} as source, ${keepsSource} as keeps_source, null as overridden,
      ${redeployedId ?? null} as copied_id, 1 as is_absolute, 0 as configuration_version, null as configuration_digest, null as resulting,
      ${makersOf(keyId, membershipId)} as creators,
      ${redeployedId === undefined ? sql`null` : exemptionOf(redeployedId)} as exempt,
      (select key.claims from api_keys as key where key.id = ${keyId}) as claims
    from environments where environments.id = ${environmentId}
      and environments.organization_id = ${organizationId}) as deployments`;
  return db.select({ waitingFor: waitingFor(clock.now(), selectFacts(stacks)) }).from(prospective);
}
