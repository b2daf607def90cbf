import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Runner, SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { LIMITS } from "../../lib/limits.ts";
import { EVENTS, type EventType } from "../notifications/events.ts";
import { writeOutbox } from "../notifications/outbox/index.ts";
import { runnerPoolEnvironments } from "../runner-pools/table.ts";
import { stacks } from "../stacks/table.ts";
import { type Bound, bytesOf } from "../usage/index.ts";
import { usage } from "../usage/table.ts";
import type { AlarmState } from "./model.ts";
import { alarms } from "./table.ts";

export type AlarmRow = typeof alarms.$inferSelect;

const EVENT_TYPES = {
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

/** A stack, if the runner's pool has its environment. */
export function findStackOfPool(db: Database, { organizationId, poolId }: Runner, id: string) {
  return db
    .select({
      id: stacks.id,
      organizationId: stacks.organizationId,
      projectId: stacks.projectId,
    })
    .from(stacks)
    .innerJoin(
      runnerPoolEnvironments,
      and(
        eq(runnerPoolEnvironments.poolId, poolId),
        eq(runnerPoolEnvironments.environmentId, stacks.environmentId),
      ),
    )
    .where(and(eq(stacks.organizationId, organizationId), eq(stacks.id, id)));
}

/** A report: its event, which compares it with the alarm as it was, and then the alarm. */
export function writeReport(ctx: SystemContext, alarm: AlarmRow) {
  return { event: writeAlarmEvent(ctx, alarm), written: writeAlarm(ctx.db, alarm) };
}

const known = ({ stackId, name }: AlarmRow) =>
  sql`${alarms} as known where known.stack_id = ${stackId} and known.name = ${name}`;

/** How many bytes more an alarm takes than the one of its name. */
export function bytesOverAlarm(alarm: AlarmRow): SQL {
  return sql`${bytesOf(alarm.name, alarm.reason)} - coalesce((select octet_length(known.name)
    + coalesce(octet_length(known.reason), 0) from ${known(alarm)}), 0)`;
}

/** One more alarm of the organization, unless there is one of this name. */
export function oneMoreAlarm(alarm: AlarmRow): Bound {
  const used = sql`coalesce((select used.records from ${usage} as used
    where used.organization_id = ${alarm.organizationId} and used.kind = 'alarms'), 0)`;
  return {
    what: "alarms",
    limit: LIMITS.alarms.value,
    before: used,
    after: sql`${used} + (not exists (select 1 from ${known(alarm)}))`,
  };
}

/**
 * Writes the event of a report that changes the state, for the batch of the report and before it.
 * An alarm that nobody has heard of counts as one that is over.
 */
function writeAlarmEvent(ctx: SystemContext, { stackId, name, state, reason, id }: AlarmRow) {
  const type = EVENT_TYPES[state];
  return writeOutbox(
    ctx,
    sql`select ${id} as key, told.project_id, ${type} as type, ${EVENTS[type].kind} as kind,
        json_patch('{}', json_object('stack_id', told.id, 'name', ${name}, 'state', ${state},
          'reason', ${reason},
          'project', json_object('id', shipped.id, 'name', shipped.name),
          'environment', json_object('id', place.id, 'name', place.name),
          'stack', json_object('id', told.id, 'name', told.name))) as data
      from stacks as told
      join projects as shipped on shipped.id = told.project_id
      join environments as place on place.id = told.environment_id
      where told.id = ${stackId} and ${state} <> coalesce(
        (select known.state from alarms as known
          where known.stack_id = ${stackId} and known.name = ${name}), 'ok')`,
  );
}

/** Makes an alarm, or notes what is new of the one of its name. */
function writeAlarm(db: Database, alarm: AlarmRow) {
  return db
    .insert(alarms)
    .values(alarm)
    .onConflictDoUpdate({
      target: [alarms.stackId, alarms.name],
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
