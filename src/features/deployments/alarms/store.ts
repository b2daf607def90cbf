import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Runner } from "../../../actor.ts";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import type { EventType } from "../../housekeeping/outbox/events.ts";
import { writeOutbox } from "../../housekeeping/outbox/index.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { runnerPoolEnvironments } from "../runner-pools/table.ts";
import type { AlarmState } from "./model.ts";
import { alarms } from "./table.ts";

export type AlarmRow = typeof alarms.$inferSelect;

const TYPE_OF_STATE = {
  alarm: "services.in_alarm",
  ok: "services.ok",
} as const satisfies Record<AlarmState, EventType>;

export function listAlarms(
  db: Database,
  organizationId: string,
  stackId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, alarms.createdAt, alarms.id);
  return db
    .select()
    .from(alarms)
    .where(and(eq(alarms.organizationId, organizationId), eq(alarms.stackId, stackId), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findStackOfPool(db: Database, { organizationId, poolId }: Runner, id: string) {
  return db
    .select({
      id: stacks.id,
      organizationId: stacks.organizationId,
      projectId: stacks.projectId,
      environmentId: stacks.environmentId,
    })
    .from(stacks)
    .innerJoin(
      runnerPoolEnvironments,
      and(
        eq(runnerPoolEnvironments.poolId, poolId),
        eq(runnerPoolEnvironments.environmentId, stacks.environmentId),
      ),
    )
    .where(
      and(eq(stacks.organizationId, organizationId), eq(stacks.id, id), isInLivePlace(stacks)),
    );
}

/** The event comes first: it compares the report with the stored alarm. */
export function writeReport(ctx: SystemContext, alarm: AlarmRow) {
  return { event: writeAlarmEvent(ctx, alarm), written: writeAlarm(ctx.db, alarm) };
}

const fromExisting = ({ stackId, source, name }: Pick<AlarmRow, "stackId" | "source" | "name">) =>
  sql`from alarms where alarms.stack_id = ${stackId} and alarms.source = ${source}
    and alarms.name = ${name}`;

const bytesOfTexts = ({ source, name, reason }: AlarmRow) => bytesOf(source, name, reason);

export function addedBytes(alarm: AlarmRow): SQL {
  return sql`${bytesOfTexts(alarm)} - coalesce((select octet_length(alarms.source || alarms.name
    || coalesce(alarms.reason, '')) ${fromExisting(alarm)}), 0)`;
}

/** A change of an alarm that exists counts as nothing. */
export function bytesIfNew(alarm: AlarmRow): SQL {
  return sql`${bytesOfTexts(alarm)} * (not exists (select 1 ${fromExisting(alarm)}))`;
}

/** Counts a new alarm, unless the stack already has one of this name from the source. */
export function alarmCountBound(alarm: AlarmRow): Bound {
  const count = sql`coalesce((select usage.records from usage
    where usage.organization_id = ${alarm.organizationId} and usage.kind = 'alarms'), 0)`;
  return {
    what: "alarms",
    limit: QUOTAS.alarms,
    before: count,
    after: sql`${count} + (not exists (select 1 ${fromExisting(alarm)}))`,
  };
}

/** Writes an event if the report changes the state. A new alarm counts as `ok` until then. */
function writeAlarmEvent(ctx: SystemContext, alarm: AlarmRow) {
  const { id, stackId, name, state, reason } = alarm;
  const type = TYPE_OF_STATE[state];
  return writeOutbox(
    ctx,
    sql`select ${id} as key, stacks.project_id, ${type} as type,
        json_patch('{}', json_object('stack_id', stacks.id, 'name', ${name}, 'state', ${state},
          'reason', ${reason},
          'project', json_object('id', projects.id, 'name', projects.name),
          'environment', json_object('id', environments.id, 'name', environments.name),
          'stack', json_object('id', stacks.id, 'name', stacks.name))) as data
      from stacks
      join projects on projects.id = stacks.project_id
      join environments on environments.id = stacks.environment_id
      where stacks.id = ${stackId} and ${state} <> coalesce(
        (select alarms.state ${fromExisting(alarm)}), 'ok')`,
  );
}

function writeAlarm(db: Database, alarm: AlarmRow) {
  return db
    .insert(alarms)
    .values(alarm)
    .onConflictDoUpdate({
      target: [alarms.stackId, alarms.source, alarms.name],
      set: {
        state: sql`excluded.state`,
        reason: sql`excluded.reason`,
        changedAt: sql`case when ${alarms.state} = excluded.state then ${alarms.changedAt}
          else excluded.changed_at end`,
        updatedAt: sql`excluded.updated_at`,
      },
    })
    .returning();
}
