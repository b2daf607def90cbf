import { type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import { observe } from "../../../db/batch.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { EventType } from "../../housekeeping/outbox/events.ts";
import { writeOutbox } from "../../housekeeping/outbox/index.ts";
import type { DeploymentStatus } from "./lifecycle.ts";
import { deployments, literalList } from "./table.ts";
import { type Evaluation, isEvaluated } from "./transitions/rules.ts";

const MAXIMUM_STACKS = LIMITS.deploymentEventStacks.value;

const TYPE_OF_STATUS = {
  in_progress: "deployments.in_progress",
  succeeded: "deployments.succeeded",
  failed: "deployments.failed",
} as const satisfies Partial<Record<DeploymentStatus, EventType>>;

/** The stacks of a deployment that an event has. */
const INCLUDED = sql`(select * from deployment_stacks where deployment_id = deployments.id
  order by position limit ${sql.raw(String(MAXIMUM_STACKS))}) as included
  left join stacks on stacks.id = included.stack_id and stacks.organization_id = included.organization_id`;

/** Null if there are none. As many as fit, each URL before all others. */
const OUTPUTS = sql`(select json(nullif(json_group_array(json(listed.item) order by listed.size), '[]'))
  from (select item, sum(octet_length(item) + 1) over (order by rank, position, name) as size
    from (select included.position, output.key as name, output.key <> 'url' as rank,
        json_object('stack_id', stacks.id, 'name', output.key, 'value', output.value) as item
      from ${INCLUDED} join json_each(stacks.outputs) as output)) as listed
  where listed.size < ${sql.raw(String(LIMITS.deploymentEventOutputBytes.value))})`;

/** Without a name, because an event is kept as it is. */
const CREATED_BY = sql`json_object(
  'type', deployments.creator_type, 'membership_id', deployments.creator_membership_id,
  'trust_id', deployments.creator_trust_id)`;

/** `secondsBetween` in SQL. Null if the difference is. */
function seconds(difference: string): SQL {
  return sql`cast(round(max(0, ${sql.raw(difference)}) / 1000.0) as integer)`;
}

const TYPES_AS_JSON = JSON.stringify(TYPE_OF_STATUS);
export const STATUSES_WITH_EVENT = literalList(Object.keys(TYPE_OF_STATUS));

/** What the event of a deployment has of it, in a select of `FROM_DEPLOYMENTS`. */
export const LOCATION = sql`'deployment_id', deployments.id,
  'project', json_object('id', projects.id, 'name', projects.name),
  'environment', json_object('id', environments.id, 'name', environments.name)`;

export const FROM_DEPLOYMENTS = sql`from deployments
  join projects on projects.id = deployments.project_id
  join environments on environments.id = deployments.environment_id
    and environments.organization_id = deployments.organization_id`;

/** @param changed Selects the IDs of deployments. */
export function writeStatusEvents(ctx: SystemContext, changed: SQL) {
  return {
    events: writeOutbox(
      ctx,
      sql`select deployments.id as key, deployments.project_id,
          ${TYPES_AS_JSON} ->> deployments.status as type,
          json_patch('{}', json_object(${LOCATION},
            'status', deployments.status, 'failure_reason', deployments.failure_reason,
            'created_by', ${CREATED_BY}, 'reason',
              substr(deployments.reason, 1, ${sql.raw(String(LIMITS.deploymentEventReasonLength.value))}),
            'trigger', deployments.trigger,
            'queued_seconds', ${seconds("deployments.started_at - deployments.created_at")},
            'run_seconds', ${seconds("deployments.finished_at - deployments.started_at")},
            'stacks', (select json_group_array(json_object('id', included.stack_id,
                'name', coalesce(stacks.name, ''), 'status', included.status))
              from ${INCLUDED}),
            'outputs', case deployments.status when 'succeeded' then ${OUTPUTS} end)) as data
        ${FROM_DEPLOYMENTS}
        where deployments.id in ${changed} and deployments.status in ${STATUSES_WITH_EVENT}`,
    ),
    notified: observe(
      ctx.db
        .update(deployments)
        .set({ notifiedStatus: sql`status` })
        .where(sql`${deployments.id} in ${changed}`)
        .returning({ id: deployments.id }),
      (rows) => ctx.logs.refresh(rows.map(({ id }) => id)),
    ),
  };
}

/** Writes nothing unless the same batch has inserted the new deployment. */
export function writePromotionEvent(ctx: SystemContext, id: string, promotedId: string) {
  const type = "promotions.created";
  return writeOutbox(
    ctx,
    sql`select created.id as key, created.project_id, ${type} as type,
        json_object('deployment_id', created.id, 'from_deployment_id', promoted.id,
          'project', json_object('id', projects.id, 'name', projects.name),
          'environment', json_object('id', target.id, 'name', target.name),
          'from_environment', json_object('id', source.id, 'name', source.name)) as data
      from deployments as created
      join deployments as promoted on promoted.id = ${promotedId}
      join projects on projects.id = created.project_id
      join environments as target on target.id = created.environment_id
      join environments as source on source.id = promoted.environment_id
        and source.organization_id = promoted.organization_id
      where created.id = ${id}`,
  );
}

/** Writes nothing if the event has been written since the deployment last had its approvals. Precedes `holdDeployment`. */
export function writeApprovalRequest(ctx: SystemContext, evaluation: Evaluation) {
  const { id, approvals } = evaluation;
  const type = "approvals.requested";
  const message = approvals.map((each) => each.message).join(" ");
  const expiresAt = Math.min(...approvals.flatMap((each) => each.expiresAt ?? []));
  return writeOutbox(
    ctx,
    sql`select ${id} as key, deployments.project_id, ${type} as type,
        json_object(${LOCATION}, 'message', ${message}, 'expires_at', ${toTimestamp(expiresAt)}) as data
      ${FROM_DEPLOYMENTS} where ${isEvaluated(evaluation)} and deployments.awaits_approval = 0`,
  );
}
