import { sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { listOf } from "../../../db/list-of.ts";
import { listSomeOrganizations } from "../../../db/some-organizations.ts";
import { PAST_BASIS, SEARCHED_SUCCESSES } from "../conditions/index.ts";
import {
  configurationDigests,
  deploymentStatus,
  deployments,
  environmentSuccesses,
} from "./table.ts";

/** How many lists of excepted paths a success has digests for. Another one replaces its rows. */
const DIGESTS_OF_SUCCESS = 20;

/** Successes whose configuration is stored. */
const isSuccess = (organizationId: string) => sql`deployments.organization_id = ${organizationId}
  and deployments.status = ${deploymentStatus.succeeded} and deployments.configuration <> ''`;

/** Copies the newest successes of an environment from before there were copies. */
export function copySuccesses(db: Database, organizationId: string, environmentId: string) {
  const { id, createdAt, startedAt, finishedAt, source, startBasis } = deployments;
  return insertFrom(
    db,
    environmentSuccesses,
    {
      ...{
        deploymentId: id,
        organizationId,
        environmentId,
        createdAt,
        startedAt,
        finishedAt,
        source,
      },
      startBasis: sql`coalesce(${startBasis}, ${PAST_BASIS})`,
      configurationDigest: deployments.configurationDigest,
    },
    sql`from deployments where deployments.organization_id = ${organizationId}
      and deployments.rowid in (select latest.rowid from deployments as latest
        where latest.environment_id = ${environmentId} and latest.status = ${deploymentStatus.succeeded}
        order by latest.created_at desc limit ${SEARCHED_SUCCESSES})`,
  ).onConflictDoNothing();
}

/** What a success from before starts kept it had, as far as nothing has changed since. */
export function storePastBasis(db: Database, organizationId: string, id: string) {
  return db
    .update(deployments)
    .set({ startBasis: PAST_BASIS })
    .where(
      sql`${isSuccess(organizationId)} and ${deployments.id} = ${id}
        and ${deployments.startBasis} is null`,
    );
}

export function findConfiguration(db: Database, organizationId: string, id: string) {
  return db
    .select({ configuration: deployments.configuration, environmentId: deployments.environmentId })
    .from(deployments)
    .where(sql`${isSuccess(organizationId)} and ${deployments.id} = ${id}`);
}

export function storeConfigurationDigest(
  db: Database,
  organizationId: string,
  { id, digest }: { id: string; digest: string },
) {
  return db
    .update(deployments)
    .set({ configurationDigest: digest })
    .where(
      sql`${isSuccess(organizationId)} and ${deployments.id} = ${id}
        and ${deployments.configurationDigest} is null`,
    );
}

const IS_DUE = sql`deployments.digests_due = 1`;

export function listDueOrganizations(db: Database, limit: number): Promise<string[]> {
  return listSomeOrganizations(db, deployments, IS_DUE, limit);
}

/** One of them. */
export function findDue(db: Database, organizationId: string) {
  const { id, projectId, environmentId } = deployments;
  return db
    .select({ id, projectId, environmentId })
    .from(deployments)
    .where(sql`${deployments.organizationId} = ${organizationId} and ${IS_DUE}`)
    .limit(1);
}

export function endDue(db: Database, organizationId: string, id: string) {
  return db
    .update(deployments)
    .set({ isDigestDue: false })
    .where(sql`${deployments.organizationId} = ${organizationId} and ${deployments.id} = ${id}`);
}

/** The different lists of excepted paths of the rules that name the environment, as JSON. */
export function listExceptions(
  db: Database,
  organizationId: string,
  { projectId, environmentId }: { projectId: string; environmentId: string },
) {
  const list = sql<string>`rules -> '$.from.same_configuration.except'`;
  return db
    .selectDistinct({ exceptions: list.as("exceptions") })
    .from(sql`environment_protections`)
    .where(
      sql`+organization_id = ${organizationId} and project_id = ${projectId} and ${list} is not null
        and ${environmentId} in (select value from json_each(rules, '$.from.environment_ids'))`,
    )
    .limit(DIGESTS_OF_SUCCESS);
}

type NewDigest = typeof configurationDigests.$inferSelect;

export function storeCompared(db: Database, row: NewDigest) {
  const { deploymentId, organizationId } = row;
  const isOf = sql`${configurationDigests.deploymentId} = ${deploymentId}`;
  return {
    replaced: db.delete(configurationDigests).where(
      sql`${isOf} and (select count(*) from configuration_digests as item
        where item.deployment_id = ${deploymentId}) >= ${DIGESTS_OF_SUCCESS}`,
    ),
    stored: insertFrom(
      db,
      configurationDigests,
      row,
      sql`from deployments where ${isSuccess(organizationId)} and deployments.id = ${deploymentId}`,
    ).onConflictDoNothing(),
  };
}

/** The digests of these successes for a list of excepted paths. */
export function listCompared(
  db: Database,
  organizationId: string,
  ids: readonly string[],
  exceptionsDigest: string,
) {
  const { deploymentId, digest } = configurationDigests;
  return db
    .select({ id: deploymentId, digest })
    .from(configurationDigests)
    .where(
      sql`${configurationDigests.organizationId} = ${organizationId}
        and ${deploymentId} in ${listOf(ids)}
        and ${configurationDigests.exceptionsDigest} = ${exceptionsDigest}`,
    );
}
