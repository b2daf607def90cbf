import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../../lib/limits.ts";
import type { AlarmState } from "../alarms/model.ts";
import { CREATOR, type DeploymentRow } from "../deployments/index.ts";
import { deploymentStatus, type deployments } from "../deployments/table.ts";

/** Of the JSON that the list selects. */
export type DeploymentSummaryRow = Pick<
  DeploymentRow,
  "id" | "status" | "source" | "createdAt" | "startedAt" | "finishedAt" | "updatedAt"
> &
  Pick<DeploymentRow, "trigger" | "copiedId" | "creator" | "reason">;

export interface RaisedAlarm {
  stackId: string;
  stackName: string;
  name: string;
  reason: string | null;
  changedAt: number;
}

export type QueuedDeployment = Pick<
  typeof deployments.$inferSelect,
  "id" | "createdAt" | "heldUntil"
> & { awaitsApproval: 0 | 1 };

export type RecentDeployment = Pick<
  DeploymentSummaryRow,
  "id" | "status" | "createdAt" | "startedAt" | "finishedAt"
>;

const limitTo = (most: number) => sql.raw(`limit ${most}`);

/** Of `environments`. The alarms of deleted stacks stay until the purge. */
const alarmsIn = (state: AlarmState) => sql`
  from (select * from alarms where alarms.environment_id = environments.id
      and alarms.state = ${sql.raw(`'${state}'`)}
    order by alarms.changed_at desc, alarms.id desc ${limitTo(LIMITS.overviewAlarmsRead.value)}) as item
  join stacks on stacks.id = item.stack_id and stacks.organization_id = environments.organization_id`;

/** JSON of `RaisedAlarm[]`. */
export const ALARMS = sql`(select json_group_array(json_object('stackId', record.stack_id,
    'stackName', record.stack_name, 'name', record.name, 'reason', record.reason,
    'changedAt', record.changed_at))
  from (select item.*, stacks.name as stack_name ${alarmsIn("alarm")}
    ${limitTo(LIMITS.overviewAlarms.value)}) as record)`.as("alarms");

/** Null: it has no alarms. */
export const HEALTH = sql`case when exists (select 1 ${alarmsIn("alarm")}) then 'alarm'
  when exists (select 1 ${alarmsIn("ok")}) then 'ok' end`.as("health");

/** The URL of the stack that people chose, or else the one that was reported last. */
export const URL = sql`(select stacks.outputs ->> 'url' from stacks
  where stacks.environment_id = environments.id and stacks.outputs ->> 'url' is not null
  order by stacks.shows_url desc, stacks.succeeded_at desc, stacks.id limit 1)`.as("url");

/** JSON of a `DeploymentSummaryRow`. Null if there is no deployment. */
export function summaryOf(id: SQL) {
  return sql<string | null>`(select json_object('id', deployments.id, 'status', deployments.status,
      'source', deployments.source, 'createdAt', deployments.created_at, 'startedAt', deployments.started_at,
      'finishedAt', deployments.finished_at, 'updatedAt', deployments.updated_at,
      'trigger', deployments.trigger, 'copiedId', deployments.copied_id,
      'creator', ${CREATOR.sql} || '', 'reason', deployments.reason)
    from deployments where deployments.id = ${id})`;
}

/** JSON of `QueuedDeployment[]`, the first to start first. */
export function queueOf(environmentId: SQL) {
  return sql<string>`(select json_group_array(json_object('id', item.id, 'createdAt', item.created_at,
      'awaitsApproval', item.awaits_approval, 'heldUntil', item.held_until))
    from (select * from deployments where deployments.environment_id = ${environmentId}
        and deployments.status = ${deploymentStatus.queued}
      order by deployments.created_at, deployments.id ${limitTo(LIMITS.overviewQueue.value)}) as item)`;
}

/** JSON of `RecentDeployment[]`, the newest first. */
export function recentOf(environmentId: SQL) {
  return sql<string>`(select json_group_array(json_object('id', item.id, 'status', item.status,
      'createdAt', item.created_at, 'startedAt', item.started_at, 'finishedAt', item.finished_at))
    from (select * from deployments where deployments.environment_id = ${environmentId}
      order by deployments.created_at desc, deployments.id desc
      ${limitTo(LIMITS.overviewDeployments.value)}) as item)`;
}
