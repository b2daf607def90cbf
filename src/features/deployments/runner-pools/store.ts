import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { nextVersion, resourceHasExpectedVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { runnerTokens } from "../../identity/credentials/runner-token-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { POOL } from "../../tenancy/index.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";
import { attempts } from "../deployments/table.ts";
import type { RunnerPoolChange } from "./model.ts";
import { runnerPoolEnvironments } from "./table.ts";

export type NewPool = typeof runnerPools.$inferSelect;

const within = (organizationId: string, id: string) =>
  and(eq(runnerPools.organizationId, organizationId), eq(runnerPools.id, id));

export function listPools(db: Database, organizationId: string, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, runnerPools.createdAt, runnerPools.id);
  return db
    .select(POOL)
    .from(runnerPools)
    .where(
      and(eq(runnerPools.organizationId, organizationId), hasName(page, runnerPools.name), where),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

/** Inserts nothing if one of the environments is not in the organization. */
export function insertPool(db: Database, pool: NewPool, environmentIds: readonly string[]) {
  const { id: poolId, organizationId } = pool;
  const areInside = areEnvironmentsOf(organizationId, environmentIds);
  const { id } = runnerPools;
  const inserted = insertFrom(db, runnerPools, pool, sql`where ${areInside}`).returning({ id });
  const environments = after(inserted, (hasChanged) =>
    insertFrom(
      db,
      runnerPoolEnvironments,
      { poolId, environmentId: sql`item.value`, organizationId },
      sql`from json_each(${JSON.stringify(environmentIds)}) as item where ${hasChanged}`,
    ),
  );
  return { inserted, environments };
}

/** Whether these different environments are in the organization. */
function areEnvironmentsOf(organizationId: string, ids: readonly string[]): SQL {
  return sql`(select count(*) from ${environments}
    where ${environments.organizationId} = ${organizationId} and ${isInLivePlace(environments)}
      and ${environments.id} in (select value from json_each(${JSON.stringify(ids)}))) = ${ids.length}`;
}

/**
 * Changes nothing if the request expects another version, or if one of the environments is not in the
 * organization.
 */
export function updatePool(
  ctx: ServiceContext,
  pool: { id: string; organizationId: string },
  { name, maxRunSeconds, environmentIds }: RunnerPoolChange,
) {
  const { db, clock } = ctx;
  const { id, organizationId } = pool;
  const { version } = runnerPools;
  const areInside = environmentIds && areEnvironmentsOf(organizationId, environmentIds);
  const mayChange = sql`exists (select 1 from ${runnerPools} where ${within(organizationId, id)})
    and ${resourceHasExpectedVersion(ctx, version, within(organizationId, id))}
    and ${areInside ?? sql`true`}`;
  return {
    ...(environmentIds && replaceEnvironments(db, pool, environmentIds, mayChange)),
    changed: db
      .update(runnerPools)
      .set({
        name,
        maxRunSeconds,
        updatedAt: clock.now(),
        version: nextVersion(version),
      })
      .where(and(within(organizationId, id), mayChange))
      .returning({ id: runnerPools.id }),
  };
}

function replaceEnvironments(
  db: Database,
  { id: poolId, organizationId }: { id: string; organizationId: string },
  ids: readonly string[],
  condition: SQL,
) {
  const list = JSON.stringify(ids);
  const { environmentId } = runnerPoolEnvironments;
  return {
    removed: db
      .delete(runnerPoolEnvironments)
      .where(
        and(
          eq(runnerPoolEnvironments.poolId, poolId),
          sql`${environmentId} not in (select value from json_each(${list}))`,
          condition,
        ),
      ),
    added: insertFrom(
      db,
      runnerPoolEnvironments,
      { poolId, environmentId: sql`item.value`, organizationId },
      sql`from json_each(${list}) as item where ${condition}
        and not exists (select 1 from ${runnerPoolEnvironments}
          where ${runnerPoolEnvironments.poolId} = ${poolId} and ${environmentId} = item.value)`,
    ),
  };
}

/**
 * Deletes some of the tokens and of the attempts of a pool, and the pool itself once none is left. Deletes nothing if
 * the request expects another version, or if one of the runners has an attempt.
 */
export function deletePool(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const isIdle = sql`not exists (select 1 from attempts
    where attempts.pool_id = ${id} and attempts.state <> 'ended')`;
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, runnerPools.version, resource);
  const isDeletable = sql`${isIdle} and ${isExpected}`;
  const ofPool = (table: typeof runnerTokens | typeof attempts) =>
    sql`from ${table} where ${table.poolId} = ${id}`;
  const isSome = (table: Parameters<typeof ofPool>[0]) =>
    sql`${table}.rowid in (select rowid ${ofPool(table)} limit ${LIMITS.deletedOfPool.value}) and ${isDeletable}`;
  const isLast = sql`${isDeletable} and not exists (select 1 ${ofPool(runnerTokens)})
    and not exists (select 1 ${ofPool(attempts)})`;
  return {
    tokens: db
      .delete(runnerTokens)
      .where(isSome(runnerTokens))
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
    attempts: db.delete(attempts).where(isSome(attempts)).returning({ id: attempts.id }),
    owned: ownership.deletionOf(db, runnerPools, id, isLast),
    deleted: db.delete(runnerPools).where(and(resource, isLast)).returning({ id: runnerPools.id }),
  };
}
