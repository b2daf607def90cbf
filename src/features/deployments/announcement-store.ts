import { sql } from "drizzle-orm";
import type { SystemContext } from "../../context.ts";
import { LIMITS } from "../../lib/limits.ts";
import { EVENTS, type EventType } from "../notifications/events.ts";
import { writeOutbox } from "../notifications/outbox/index.ts";
import { environmentsOf, type Scope } from "./environment-scope.ts";
import type { DeploymentStatus } from "./lifecycle.ts";
import { deployments } from "./table.ts";

const EVENT_STACKS = LIMITS.deploymentEventStacks.value;

/** The statuses of which an event is sent, with its type. */
const EVENT_TYPES = {
  in_progress: "deployments.in_progress",
  succeeded: "deployments.succeeded",
  failed: "deployments.failed",
} as const satisfies Partial<Record<DeploymentStatus, EventType>>;

const TYPE_BY_STATUS = JSON.stringify(EVENT_TYPES);
const KIND_BY_STATUS = JSON.stringify(
  Object.fromEntries(
    Object.entries(EVENT_TYPES).map(([status, type]) => [status, EVENTS[type].kind]),
  ),
);

/** Writes the events of deployments whose status no event has told of yet. */
export function announce(ctx: SystemContext, scope: Scope) {
  // Literally what the partial index holds.
  const isNews = (table: string) => sql.raw(`${table}.status <> ${table}.announced`);
  const inScopeOf = (table: string) =>
    scope === "everything"
      ? sql``
      : sql`${sql.raw(table)}.environment_id in ${environmentsOf(scope)} and`;
  return {
    events: writeOutbox(
      ctx,
      sql`select news.id as key, news.project_id, ${TYPE_BY_STATUS} ->> news.status as type,
          ${KIND_BY_STATUS} ->> news.status as kind,
          json_patch('{}', json_object('deployment_id', news.id, 'status', news.status,
            'failure_reason', news.failure_reason,
            'project', json_object('id', shipped.id, 'name', shipped.name),
            'environment', json_object('id', place.id, 'name', place.name),
            'stacks', (select json_group_array(json_object('id', part.stack_id,
                'name', coalesce(stacks.name, ''), 'status', part.status))
              from (select * from deployment_stacks where deployment_id = news.id
                order by position limit ${sql.raw(String(EVENT_STACKS))}) as part
              left join stacks on stacks.id = part.stack_id))) as data
        from deployments as news
        join projects as shipped on shipped.id = news.project_id
        join environments as place on place.id = news.environment_id
        where ${inScopeOf("news")} ${isNews("news")}
          and news.status in (select key from json_each(${TYPE_BY_STATUS}))`,
    ),
    notified: ctx.db
      .update(deployments)
      .set({ announced: sql`status` })
      .where(sql`${inScopeOf("deployments")} ${isNews("deployments")}`),
  };
}

/** Writes the event of a promotion, if the deployment that it is to make was inserted before. */
export function writePromotionEvent(ctx: SystemContext, id: string, promotedId: string) {
  const type = "promotions.created";
  return writeOutbox(
    ctx,
    sql`select made.id as key, made.project_id, ${type} as type, ${EVENTS[type].kind} as kind,
        json_object('deployment_id', made.id, 'from_deployment_id', promoted.id,
          'project', json_object('id', shipped.id, 'name', shipped.name),
          'environment', json_object('id', target.id, 'name', target.name),
          'from_environment', json_object('id', origin.id, 'name', origin.name)) as data
      from deployments as made
      join deployments as promoted on promoted.id = ${promotedId}
      join projects as shipped on shipped.id = made.project_id
      join environments as target on target.id = made.environment_id
      join environments as origin on origin.id = promoted.environment_id
      where made.id = ${id}`,
  );
}
