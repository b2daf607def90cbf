import { env } from "cloudflare:workers";
import { EDGE_TABLE, EDGE_TRIGGERS } from "./edges.ts";
import type { WalkFixture } from "./fixture.ts";

const FINAL = "('succeeded', 'failed', 'canceled', 'superseded')";
const FINAL_STACK = "('succeeded', 'failed', 'canceled', 'skipped')";
const MAXIMUM_LAPSES = 5;
const MAXIMUM_RELEASES = 20;
const reject = (invariant: string) => `begin select raise(abort, 'INVARIANT ${invariant}'); end`;

/** The needs of a deployment's stacks that come later in it, or that it does not have and that never succeeded. */
const UNMET = (deployment: string) => `from deployment_stacks as own
  join stacks on stacks.id = own.stack_id
  join json_each(${deployment}.configuration, '$.stacks.' || stacks.name || '.needs') as need
  left join stacks as needed on needed.environment_id = own.environment_id and needed.name = need.value
  left join deployment_stacks as part on part.deployment_id = own.deployment_id and part.stack_id = needed.id
  where own.deployment_id = ${deployment}.id
    and (part.position > own.position or (part.position is null and needed.succeeded_at is null))`;

/** Triggers that reject a statement which breaks an invariant. */
const TRIGGERS = {
  finished_changes: `before update on deployments
    when old.status in ${FINAL} and new.status <> old.status ${reject("a finished state changes")}`,
  unconnected_creation: `before insert on deployments
    when not exists (select 1 from projects
      where id = new.project_id and connection_status = 'connected')
    ${reject("a deployment of a project that is not connected")}`,
  older_starts: `before update on deployments
    when old.status = 'queued' and new.status = 'in_progress' and new.number <= (
      select started_number from environments where id = new.environment_id)
    ${reject("an older deployment starts")}`,
  starts_before_need: `before update of status on deployments
    when old.status = 'queued' and new.status = 'in_progress' and exists (select 1 ${UNMET("new")})
    ${reject("a deployment starts with a need that it does not meet")}`,
  bad_success: `before update on deployments
    when old.status <> 'succeeded' and new.status = 'succeeded' and exists (
      select 1 from deployment_stacks where deployment_id = new.id
        and status not in ('succeeded', 'skipped'))
    ${reject("success with an unsuccessful stack")}`,
  epoch_decreases: `before update on environments
    when new.epoch < old.epoch or new.started_number < old.started_number
    ${reject("the epoch decreases")}`,
  edited_while_active: `before update of configuration on environments
    when new.configuration <> old.configuration and exists (select 1 from deployments
      where environment_id = new.id and status in ('in_progress', 'canceling'))
    ${reject("a configuration changes while a deployment is active")}`,
  other_source_starts: `before update of status on deployments
    when old.status = 'queued' and new.status = 'in_progress' and new.keeps_source = 1
      and new.source is not (select source from environments where id = new.environment_id)
    ${reject("a deployment that keeps the source starts with another one")}`,
  source_without_success: `before update of source on environments
    when new.source is not old.source and new.organization_id = old.organization_id
      and new.source is not (select source from deployments
      where environment_id = new.id and status = 'succeeded' order by number desc limit 1)
    ${reject("an environment gets another source than that of its last success")}`,
  fails_unstarted: `before update on deployments
    when old.status = 'queued' and new.status = 'failed'
      and new.failure_reason not in ('patch_conflict', 'never_started')
    ${reject("an unstarted deployment fails")}`,
  times_out_early: `before update on deployments
    when new.failure_reason = 'run_timeout' and old.failure_reason is null and not exists (
      select 1 from attempts where deployment_id = new.id and state = 'running'
        and run_until <= new.updated_at)
    ${reject("a run times out early")}`,
  timeout_ignored: `before update on deployments
    when old.status = 'in_progress' and new.status in ('succeeded', 'canceled') and exists (
      select 1 from attempts where deployment_id = new.id and state = 'running'
        and run_until <= new.finished_at)
    ${reject("a run past its time limit does not time out")}`,
  canceling_outcome: `before update on deployments
    when old.status = 'canceling' and new.status <> 'canceling' and new.status || ' ' ||
      coalesce(new.failure_reason, '-') <> iif(old.failure_reason is 'run_timeout',
        'failed run_timeout', 'canceled -')
    ${reject("a canceling deployment ends with another outcome")}`,
  deadline_moves: `before update on deployments
    when old.status = 'canceling' and new.cancel_deadline is not old.cancel_deadline
    ${reject("a deadline moves")}`,
  finished_stack_changes: `before update on deployment_stacks
    when old.status in ${FINAL_STACK} and (new.status <> old.status or new.seq <> old.seq)
    ${reject("a finished stack changes")}`,
  report_counts_twice: `before update of seq, status on deployment_stacks
    when new.seq < old.seq or (new.seq = old.seq and exists (select 1 from deployments
      where id = new.deployment_id and status not in ${FINAL}))
    ${reject("an old report counts")}`,
  report_without_attempt: `before update on deployment_stacks
    when new.seq <> old.seq and not exists (select 1 from attempts
      where deployment_id = new.deployment_id and state = 'running' and lost_at > new.timestamp)
    ${reject("a report counts without a running attempt")}`,
  attempt_restarts: `before update on attempts
    when (old.state = 'ended' and new.state <> 'ended')
      or (old.state = 'running' and new.state = 'offered') ${reject("an ended attempt becomes active")}`,
  reconnects_early: `before update on projects
    when old.connection_status = 'disconnecting' and new.connection_status = 'connected'
    ${reject("a project is connected before it is disconnected")}`,
};

/** JSON of a `StackState`. */
const STACK_STATE = `json_object(
  'deployed', (select json_group_array(stacks.name) from deployment_stacks as part
    join stacks on stacks.id = part.stack_id where part.deployment_id = new.id),
  'succeeded', (select json_group_array(stacks.name) from stacks
    where stacks.environment_id = new.environment_id and stacks.succeeded_at is not null))`;

/** The log that `ConfigurationModel` reads: configuration changes and the deployments that cause them. */
const LOG = {
  created: `after insert on deployments begin
    insert into walk_log select null, 'created', new.environment_id, new.id, new.configuration, null; end`,
  ...logStatus("started", "new.status = 'in_progress'"),
  ...logStatus("succeeded", "new.status = 'succeeded'"),
  ...logStatus("conflict", "new.failure_reason = 'patch_conflict'"),
  configured: `after update of configuration on environments begin
    insert into walk_log select null, 'configured', new.id, null, new.configuration, null; end`,
};

function logStatus(kind: string, condition: string) {
  return {
    [kind]: `after update of status on deployments when new.status <> old.status and ${condition}
      begin insert into walk_log
        select null, '${kind}', new.environment_id, new.id, new.configuration, ${STACK_STATE}; end`,
  };
}

export async function installInvariants(): Promise<void> {
  await env.DB.prepare(
    `create table if not exists walk_log (id integer primary key, kind text, environment_id text,
      deployment_id text, configuration text, stacks text)`,
  ).run();
  await env.DB.prepare(EDGE_TABLE).run();
  for (const [name, trigger] of Object.entries({ ...TRIGGERS, ...EDGE_TRIGGERS, ...LOG })) {
    await env.DB.prepare(`create trigger if not exists walk_${name} ${trigger}`).run();
  }
}

export async function removeInvariants(): Promise<void> {
  const names = Object.keys({ ...TRIGGERS, ...EDGE_TRIGGERS, ...LOG });
  await env.DB.batch(names.map((name) => env.DB.prepare(`drop trigger if exists walk_${name}`)));
}

/** Without the environments that were deleted, which the schedule purges in parts. */
const OURS = "environment_id in (select value from json_each(?2))";

/** Invariants between requests; each query finds the rows that break one. */
const BREACHES = {
  "an active deployment has no running attempt": `select id from deployments as d
    where ${OURS} and status in ('in_progress', 'canceling') and not exists (
      select 1 from attempts where deployment_id = d.id and state = 'running')`,
  "an attempt outlives its deployment": `select a.id from attempts as a
    join deployments as d on d.id = a.deployment_id
    where a.${OURS} and ((a.state = 'running' and d.status not in ('in_progress', 'canceling'))
      or (a.state = 'offered' and d.status <> 'queued'))`,
  "two attempts are active in an environment": `select environment_id as id from attempts
    where ${OURS} and state <> 'ended' group by environment_id having count(*) > 1`,
  "an old attempt is active": `select a.id from attempts as a
    join environments as e on e.id = a.environment_id
    where a.${OURS} and a.state <> 'ended' and a.epoch <> e.epoch`,
  "an epoch was given twice": `select environment_id as id from attempts
    where ${OURS} group by environment_id, epoch having count(*) > 1`,
  "an unstarted attempt was completed": `select id from attempts
    where ${OURS} and completion is not null and started_at is null`,
  "a deployment succeeded without a completion": `select id from deployments as d
    where ${OURS} and status = 'succeeded' and not exists (select 1 from attempts
      where deployment_id = d.id and outcome = 'succeeded' and completion is not null)`,
  "a deployment was started twice": `select deployment_id as id from attempts
    where ${OURS} and started_at is not null group by deployment_id having count(*) > 1`,
  "a superseded deployment is queued": `select id from deployments as d
    where ${OURS} and status = 'queued' and exists (select 1 from deployments as newer
      where newer.environment_id = d.environment_id and newer.queue = 'supersede'
        and newer.number > d.number)`,
  "a queued deployment has a need that it does not meet": `select d.id from deployments as d
    where ${OURS} and status = 'queued' and exists (select 1 ${UNMET("d")})`,
  "a deployment was superseded without a newer one": `select id from deployments as d
    where ${OURS} and status = 'superseded' and not exists (
      select 1 from deployments as newer where newer.environment_id = d.environment_id
        and newer.queue = 'supersede' and newer.number > d.number)`,
  "a request was given two attempts": `select pool_id as id from attempts
    where ${OURS} group by pool_id, request_id having count(*) > 1`,
  "a failed stack did not fail its deployment": `select d.id from deployments as d
    where ${OURS} and status in ('succeeded', 'canceled') and cancel_deadline is null
      and exists (select 1 from deployment_stacks where deployment_id = d.id and status = 'failed')`,
  "a run has another time limit than its pool": `select a.id from attempts as a
    join runner_pools as p on p.id = a.pool_id where a.${OURS}
      and a.run_until is not a.started_at + 1000 * p.max_run_seconds`,
  "a deployment does not fail exactly after five lapsed or 20 released offers": `select d.id
    from (select id, failure_reason,
        (select count(*) from attempts where deployment_id = deployments.id
          and outcome = 'lapsed') as lapses,
        (select count(*) from attempts where deployment_id = deployments.id
          and outcome = 'released') as releases
      from deployments where ${OURS}) as d
    where (failure_reason is 'never_started')
        <> (lapses >= ${MAXIMUM_LAPSES} or releases >= ${MAXIMUM_RELEASES})
      or lapses > ${MAXIMUM_LAPSES} or releases > ${MAXIMUM_RELEASES}`,
  "a project without a connection has active deployments": `select d.id from deployments as d
    join projects as p on p.id = d.project_id
    where d.${OURS} and (
      (p.connection_status <> 'connected' and d.status in ('queued', 'in_progress'))
      or (p.connection_status = 'disconnected' and d.status = 'canceling'))`,
  "a project stays disconnecting without active deployments": `select id from projects as p
    where organization_id = ?1 and connection_status = 'disconnecting' and not exists (
      select 1 from deployments where project_id = p.id and status not in ${FINAL})`,
  "an environment lacks the source of its last success": `select e.id from environments as e
    join deployments as d on d.environment_id = e.id and d.number = (select max(number)
      from deployments where environment_id = e.id and status = 'succeeded')
    where d.${OURS} and e.source is not d.source`,
  "a deployment is not counted once, by its final status": `select d.environment_id as id
    from deployments as d where d.${OURS} and d.status in ${FINAL}
    group by d.environment_id, d.status having count(*) <> coalesce((
      select sum(case d.status when 'succeeded' then counted.succeeded when 'failed' then counted.failed
        when 'canceled' then counted.canceled else counted.superseded end)
      from deployment_days as counted where counted.environment_id = d.environment_id), 0)`,
  "a finished deployment has an unfinished stack": `select d.id from deployment_stacks as s
    join deployments as d on d.id = s.deployment_id
    where s.${OURS} and s.status in ('pending', 'in_progress')
      and d.status in ${FINAL}`,
};

const CHECK = `select ${Object.entries(BREACHES)
  .map(([description, query]) => `(select id from (${query}) limit 1) as "${description}"`)
  .join(", ")}`;

/** Finds the broken invariants of an organization with these environments. */
export function selectBreaches(
  { worldId, environments }: Pick<WalkFixture, "worldId" | "environments">,
  database: D1Database = env.DB,
): D1PreparedStatement {
  return database.prepare(CHECK).bind(worldId, JSON.stringify(environments));
}

/** Descriptions of the broken invariants that `selectBreaches` found. */
export function describeBreaches([found]: Record<string, string | null>[]): string[] {
  return Object.entries(found ?? {})
    .filter(([, id]) => id !== null)
    .map(([description, id]) => `${description}: ${id}`);
}
