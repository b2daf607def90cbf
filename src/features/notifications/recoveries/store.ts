import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { SystemContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { listOf } from "../../../db/list-of.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { decodeCursor, encodeCursor, type Position } from "../../../lib/cursor.ts";
import { writeRedeliveries } from "../../housekeeping/outbox/index.ts";
import { IS_CONFIRMED, integrations } from "../../housekeeping/outbox/integration-table.ts";
import { deliveries } from "../../housekeeping/outbox/table.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";
import { READ_AT_ONCE } from "./model.ts";
import { recoveries } from "./table.ts";

export type RecoveryRow = typeof recoveries.$inferSelect;

export interface RecoveryReference {
  projectId: string;
  integrationId: string;
  id: string;
}

export function findRecovery(db: Database, actor: Actor, reference: RecoveryReference) {
  return db
    .select({
      ...getTableColumns(recoveries),
      environmentId: NO_ENVIRONMENT,
      memberRole: MEMBER_ROLE,
    })
    .from(recoveries)
    .leftJoin(projectMembers, isRoleOf(actor, recoveries.projectId))
    .where(
      and(
        eq(recoveries.organizationId, actor.organizationId),
        eq(recoveries.projectId, reference.projectId),
        eq(recoveries.integrationId, reference.integrationId),
        eq(recoveries.id, reference.id),
        hasLiveOwner(integrations, recoveries.integrationId),
      ),
    );
}

export function listRecoveries(
  db: Database,
  organizationId: string,
  integrationId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, recoveries.createdAt, recoveries.id);
  return db
    .select()
    .from(recoveries)
    .where(
      and(
        eq(recoveries.organizationId, organizationId),
        eq(recoveries.integrationId, integrationId),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

const IS_ENABLED = sql`integrations.disabled_at is null and ${IS_CONFIRMED}`;

/** Inserts nothing if another is running, or the integration is disabled or unconfirmed. */
export function insertRecovery(db: Database, recovery: RecoveryRow) {
  const { organizationId, projectId, integrationId } = recovery;
  return insertFrom(
    db,
    recoveries,
    recovery,
    sql`from integrations where integrations.id = ${integrationId}
      and integrations.organization_id = ${organizationId}
      and integrations.project_id = ${projectId} and ${IS_ENABLED}
      and not exists (select 1 from recoveries as other
        where other.integration_id = ${integrationId} and other.status = 'running')`,
  ).returning();
}

/**
 * One of each organization in turn, the longest waiting first. One whose integration is disabled waits.
 * @param failedIds Those that have failed, which are left out.
 */
export function listRunning(
  db: Database,
  { limit, failedIds = [] }: { limit: number; failedIds?: readonly string[] },
) {
  return db
    .select(getTableColumns(recoveries))
    .from(recoveries)
    .innerJoin(integrations, eq(integrations.id, recoveries.integrationId))
    .where(sql`${recoveries.status} = 'running' and ${IS_ENABLED}
      and ${recoveries.id} not in ${listOf(failedIds)}`)
    .orderBy(
      sql`row_number() over (partition by ${recoveries.organizationId}
        order by ${recoveries.updatedAt}, ${recoveries.id})`,
      recoveries.updatedAt,
      recoveries.id,
    )
    .limit(limit);
}

/** The next failed deliveries that a recovery covers, oldest first. */
export function listFailed(db: Database, { integrationId, since, until, position }: RecoveryRow) {
  const after = position === null ? undefined : decodeCursor("asc", position);
  const page = { limit: READ_AT_ONCE - 1, direction: "asc" as const, after };
  const { where, orderBy, limit } = keyset(page, deliveries.createdAt, deliveries.id);
  return db
    .select({ id: deliveries.id, createdAt: deliveries.createdAt })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.integrationId, integrationId),
        eq(deliveries.status, "failed"),
        where,
        sql`${deliveries.createdAt} >= ${since} and ${deliveries.createdAt} < ${until}`,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

/** Writes nothing if another sweep has advanced the recovery, or the integration is disabled. */
export function advance(ctx: SystemContext, recovery: RecoveryRow, failed: readonly Position[]) {
  const { db } = ctx;
  const now = ctx.clock.now();
  const last = failed.at(-1);
  const isFinished = failed.length < READ_AT_ONCE;
  const isUnchanged = sql`${recoveries.id} = ${recovery.id} and ${recoveries.status} = 'running'
    and ${recoveries.position} is ${recovery.position}`;
  const advanced = db
    .update(recoveries)
    .set({
      position: last ? encodeCursor("asc", last) : recovery.position,
      status: isFinished ? "finished" : "running",
      finishedAt: isFinished ? now : null,
      updatedAt: now,
    })
    .where(
      sql`${isUnchanged} and exists (select 1 from integrations
        where integrations.id = ${recovery.integrationId} and ${IS_ENABLED})`,
    );
  const failedIds = failed.map(({ id }) => id);
  const { deliveries, events } = writeRedeliveries(ctx, recovery, failedIds, advanced);
  const counted = after(deliveries, (hasChanged, changed) =>
    db
      .update(recoveries)
      .set({ recovered: sql`${recoveries.recovered} + ${changed}` })
      .where(sql`${recoveries.id} = ${recovery.id} and ${hasChanged}`),
  );
  return { advanced, deliveries, counted, events };
}
