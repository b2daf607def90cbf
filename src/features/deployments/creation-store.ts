import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { LIMITS } from "../../lib/limits.ts";
import { projects } from "../projects/table.ts";
import { stacks } from "../stacks/table.ts";
import type { Bound } from "../usage/index.ts";
import { ACTIVE_STATUSES, deploymentStacks, deployments } from "./table.ts";

export type NewDeployment = Pick<
  typeof deployments.$inferInsert,
  | "id"
  | "organizationId"
  | "projectId"
  | "environmentId"
  | "queue"
  | "patch"
  | "configuration"
  | "source"
  | "reason"
  | "isAbsolute"
> & {
  /** The version of the configuration that `patch` and `configuration` are based on. */
  configurationVersion: number;
  now: number;
};

/** Which stacks a deployment is over: undefined for all that the environment has. */
export type StackChoice = readonly string[] | undefined;

/** How many of the chosen stacks the environment has. */
function countOf(environmentId: string, choice: readonly string[]): SQL {
  return sql`(select count(*) from stacks where stacks.environment_id = ${environmentId}
    and stacks.id in (select value from json_each(${JSON.stringify(choice)})))`;
}

/** What creation depends on, as it is when it is tried. */
export function findCircumstances(
  db: Database,
  { organizationId, projectId, environmentId }: NewDeployment,
  choice: StackChoice,
) {
  return db
    .select({
      connectionStatus: projects.connectionStatus,
      knownStacks: sql<number>`${choice ? countOf(environmentId, choice) : 0}`.as("known_stacks"),
    })
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), eq(projects.id, projectId)));
}

/** The next deployment of its environment, if the project is connected and has these stacks. */
export function insertDeployment(db: Database, deployment: NewDeployment, choice: StackChoice) {
  const { now, configurationVersion, ...fields } = deployment;
  const { environmentId } = deployment;
  const hasAll = choice ? sql`${countOf(environmentId, choice)} = ${choice.length}` : sql`true`;
  return insertFrom(
    db,
    deployments,
    {
      ...fields,
      number: sql`(select coalesce(max(number), 0) + 1 from deployments
        where environment_id = ${environmentId})`,
      status: "queued",
      announced: "queued",
      source: fields.source ?? null,
      reason: fields.reason ?? null,
      failureReason: null,
      message: null,
      cancelDeadline: null,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      updatedAt: now,
      configurationVersion,
      isAbsolute: fields.isAbsolute ?? false,
      lapsedOffers: 0,
    },
    sql`from projects
      where projects.id = ${fields.projectId} and projects.connection_status = 'connected'
        and ${hasAll}`,
  );
}

/** The stacks of a deployment that was inserted in the same batch, in the order of the choice. */
export function insertStacks(db: Database, deployment: NewDeployment, choice: StackChoice) {
  const { id, organizationId, environmentId, now } = deployment;
  const chosen = choice
    ? sql`json_each(${JSON.stringify(choice)}) as item
        join ${stacks} on stacks.id = item.value and stacks.environment_id = ${environmentId}`
    : sql`(select id as value, row_number() over (order by created_at, id) - 1 as key
        from stacks where environment_id = ${environmentId}) as item`;
  return insertFrom(
    db,
    deploymentStacks,
    {
      deploymentId: id,
      stackId: sql`item.value`,
      organizationId,
      environmentId,
      position: sql`item.key`,
      status: "pending",
      statusReason: null,
      seq: 0,
      timestamp: now,
      deploymentCreatedAt: now,
    },
    sql`from ${chosen} where exists (select 1 from deployments where id = ${id})`,
  );
}

/** What a deployment was to bring to its environment. */
export type Origin = Awaited<ReturnType<typeof findOrigin>>[number];

export function findOrigin(db: Database, organizationId: string, id: string) {
  return db
    .select({ configuration: deployments.configuration, source: deployments.source })
    .from(deployments)
    .where(and(eq(deployments.organizationId, organizationId), eq(deployments.id, id)));
}

/** The environment of a deployment, where a statement wants its ID. */
export const environmentOf = (id: string): SQL =>
  sql`(select environment_id from deployments where id = ${id})`;

/** Those of a deployment's stacks that there still are, in its order. */
export function listStacksLeft(db: Database, organizationId: string, id: string) {
  return db
    .select({ id: stacks.id })
    .from(deploymentStacks)
    .innerJoin(stacks, eq(stacks.id, deploymentStacks.stackId))
    .where(
      and(
        eq(deploymentStacks.organizationId, organizationId),
        eq(deploymentStacks.deploymentId, id),
      ),
    )
    .orderBy(deploymentStacks.position);
}

/** One more deployment that waits for its turn. */
export function oneMoreUnfinished(environmentId: string): Bound {
  const known = sql`(select count(*) from ${deployments} as known
    where known.environment_id = ${environmentId} and known.status in ${ACTIVE_STATUSES})`;
  return {
    what: "unfinished deployments of an environment",
    limit: LIMITS.unfinishedDeployments.value,
    before: known,
    after: sql`${known} + 1`,
  };
}

/** How many configurations a creation drops: one is displaced by each, the others were before. */
const DROPPED_AT_ONCE = 20;

/** Empties the configurations of finished deployments that newer ones have displaced. */
export function dropOldConfigurations(db: Database, environmentId: string) {
  return db
    .update(deployments)
    .set({ configuration: "" })
    .where(
      sql`${deployments.id} in (select old.id from ${deployments} as old
        where old.environment_id = ${environmentId} and old.configuration <> ''
          and old.status not in ${ACTIVE_STATUSES}
          and old.number <= (select max(newest.number) from ${deployments} as newest
            where newest.environment_id = ${environmentId}) - ${LIMITS.redeployableDeployments.value}
        order by old.number limit ${DROPPED_AT_ONCE})`,
    );
}

/**
 * Supersedes what is older than a deployment of the queue `supersede`, and has not started. One of
 * the other queue supersedes nothing.
 */
export function supersedeOlder(db: Database, id: string, environmentId: string, now: number) {
  return db
    .update(deployments)
    .set({ status: "superseded", finishedAt: now, updatedAt: now })
    .where(
      and(
        eq(deployments.environmentId, environmentId),
        sql`${deployments.status} = 'queued'`,
        sql`${deployments.number} < (select newer.number from deployments as newer
          where newer.id = ${id} and newer.queue = 'supersede')`,
      ),
    );
}
