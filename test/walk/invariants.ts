import { env } from "cloudflare:workers";
import { EDGE_TABLE, EDGE_TRIGGERS } from "./edges.ts";

const FINAL = "('succeeded', 'failed', 'canceled', 'superseded')";
const FINAL_STACK = "('succeeded', 'failed', 'canceled', 'skipped')";
const MAXIMUM_LAPSES = 5;
const refuse = (words: string) => `begin select raise(abort, 'INVARIANT ${words}'); end`;

/** What no statement may do, whatever request it belongs to: the database itself refuses. */
const TRIGGERS = {
  finished_changes: `before update on deployments
    when old.status in ${FINAL} and new.status <> old.status ${refuse("a finished state changes")}`,
  unconnected_creation: `before insert on deployments
    when not exists (select 1 from projects
      where id = new.project_id and connection_status = 'connected')
    ${refuse("a deployment of a project that is not connected")}`,
  older_starts: `before update on deployments
    when old.status = 'queued' and new.status = 'in_progress' and new.number <= (
      select started_number from environments where id = new.environment_id)
    ${refuse("an older deployment starts")}`,
  bad_success: `before update on deployments
    when old.status <> 'succeeded' and new.status = 'succeeded' and exists (
      select 1 from deployment_stacks where deployment_id = new.id
        and status not in ('succeeded', 'skipped'))
    ${refuse("success with an unsuccessful stack")}`,
  epoch_falls: `before update on environments
    when new.epoch < old.epoch or new.started_number < old.started_number
    ${refuse("the epoch falls")}`,
  edited_while_active: `before update of configuration on environments
    when new.configuration <> old.configuration and exists (select 1 from deployments
      where environment_id = new.id and status in ('in_progress', 'canceling'))
    ${refuse("a configuration changes while a deployment is active")}`,
  fails_unstarted: `before update on deployments
    when old.status = 'queued' and new.status = 'failed'
      and new.failure_reason not in ('patch_conflict', 'never_started')
    ${refuse("a deployment fails that has not started")}`,
  times_out_early: `before update on deployments
    when new.failure_reason = 'run_timeout' and old.failure_reason is null and not exists (
      select 1 from attempts where deployment_id = new.id and state = 'running'
        and run_until <= new.updated_at)
    ${refuse("a run times out early")}`,
  timeout_unnoticed: `before update on deployments
    when old.status = 'in_progress' and new.status in ('succeeded', 'canceled') and exists (
      select 1 from attempts where deployment_id = new.id and state = 'running'
        and run_until <= new.finished_at)
    ${refuse("a run past its time ends as something else")}`,
  timeout_undone: `before update on deployments
    when old.status = 'canceling' and new.status <> 'canceling' and new.status || ' ' ||
      coalesce(new.failure_reason, '-') <> iif(old.failure_reason is 'run_timeout',
        'failed run_timeout', 'canceled -')
    ${refuse("what is canceling ends as something else")}`,
  deadline_moves: `before update on deployments
    when old.status = 'canceling' and new.cancel_deadline is not old.cancel_deadline
    ${refuse("a deadline moves")}`,
  finished_stack_changes: `before update on deployment_stacks
    when old.status in ${FINAL_STACK} and (new.status <> old.status or new.seq <> old.seq)
    ${refuse("a finished stack changes")}`,
  report_counts_twice: `before update on deployment_stacks
    when new.seq < old.seq or (new.seq = old.seq and exists (select 1 from deployments
      where id = new.deployment_id and status not in ${FINAL}))
    ${refuse("a report that is not newer counts")}`,
  stranger_reports: `before update on deployment_stacks
    when new.seq <> old.seq and not exists (select 1 from attempts
      where deployment_id = new.deployment_id and state = 'running' and lost_at > new.timestamp)
    ${refuse("a report counts of one who holds nothing")}`,
  attempt_revives: `before update on attempts
    when (old.state = 'ended' and new.state <> 'ended')
      or (old.state = 'running' and new.state = 'offered') ${refuse("an attempt revives")}`,
  reconnects_early: `before update on projects
    when old.connection_status = 'disconnecting' and new.connection_status = 'connected'
    ${refuse("a project is connected before it is disconnected")}`,
};

/** What `Ledger` reads: the changes of configurations, and those of deployments that explain them. */
const LOG = {
  created: `after insert on deployments begin
    insert into walk_log select null, 'created', new.environment_id, new.id, new.configuration; end`,
  ...logStatus("started", "new.status = 'in_progress'"),
  ...logStatus("succeeded", "new.status = 'succeeded'"),
  ...logStatus("conflict", "new.failure_reason = 'patch_conflict'"),
  configured: `after update of configuration on environments begin
    insert into walk_log select null, 'configured', new.id, null, new.configuration; end`,
};

function logStatus(kind: string, condition: string) {
  return {
    [kind]: `after update of status on deployments when new.status <> old.status and ${condition}
      begin insert into walk_log
        select null, '${kind}', new.environment_id, new.id, new.configuration; end`,
  };
}

export async function installInvariants(): Promise<void> {
  await env.DB.prepare(
    `create table if not exists walk_log (id integer primary key, kind text, environment_id text,
      deployment_id text, configuration text)`,
  ).run();
  await env.DB.prepare(EDGE_TABLE).run();
  for (const [name, trigger] of Object.entries({ ...TRIGGERS, ...EDGE_TRIGGERS, ...LOG })) {
    await env.DB.prepare(`create trigger if not exists walk_${name} ${trigger}`).run();
  }
}

/** What must hold between any two requests: each query finds what breaks it. */
const BREACHES = {
  "an active deployment has no attempt that runs": `select id from deployments as d
    where organization_id = ?1 and status in ('in_progress', 'canceling') and not exists (
      select 1 from attempts where deployment_id = d.id and state = 'running')`,
  "an attempt outlives its deployment": `select a.id from attempts as a
    join deployments as d on d.id = a.deployment_id
    where a.organization_id = ?1 and ((a.state = 'running' and d.status not in ('in_progress', 'canceling'))
      or (a.state = 'offered' and d.status <> 'queued'))`,
  "two attempts are active in an environment": `select environment_id as id from attempts
    where organization_id = ?1 and state <> 'ended' group by environment_id having count(*) > 1`,
  "an attempt that is not the newest is active": `select a.id from attempts as a
    join environments as e on e.id = a.environment_id
    where a.organization_id = ?1 and a.state <> 'ended' and a.epoch <> e.epoch`,
  "an epoch was given twice": `select environment_id as id from attempts
    where organization_id = ?1 group by environment_id, epoch having count(*) > 1`,
  "an attempt was completed that never started": `select id from attempts
    where organization_id = ?1 and completion is not null and started_at is null`,
  "a deployment ended well without its runner's word": `select id from deployments as d
    where organization_id = ?1 and status = 'succeeded' and not exists (select 1 from attempts
      where deployment_id = d.id and outcome = 'succeeded' and completion is not null)`,
  "a deployment was started twice": `select deployment_id as id from attempts
    where organization_id = ?1 and started_at is not null group by deployment_id having count(*) > 1`,
  "what was superseded waits": `select id from deployments as d
    where organization_id = ?1 and status = 'queued' and exists (select 1 from deployments as newer
      where newer.environment_id = d.environment_id and newer.queue = 'supersede'
        and newer.number > d.number)`,
  "superseded by nothing": `select id from deployments as d
    where organization_id = ?1 and status = 'superseded' and not exists (
      select 1 from deployments as newer where newer.environment_id = d.environment_id
        and newer.queue = 'supersede' and newer.number > d.number)`,
  "a request was given two attempts": `select pool_id as id from attempts
    where organization_id = ?1 group by pool_id, request_id having count(*) > 1`,
  "a failed stack did not fail its deployment": `select d.id from deployments as d
    where organization_id = ?1 and status in ('succeeded', 'canceled') and cancel_deadline is null
      and exists (select 1 from deployment_stacks where deployment_id = d.id and status = 'failed')`,
  "a run has another time than its pool allows": `select a.id from attempts as a
    join runner_pools as p on p.id = a.pool_id where a.organization_id = ?1
      and a.run_until is not a.started_at + 1000 * p.max_run_seconds`,
  "a deployment is offered again after five lapses, or fails before": `select d.id
    from deployments as d where organization_id = ?1 and (
      (d.failure_reason is 'never_started') <> ((select count(*) from attempts
        where deployment_id = d.id and outcome = 'lapsed') >= ${MAXIMUM_LAPSES})
      or ${MAXIMUM_LAPSES} < (select count(*) from attempts
        where deployment_id = d.id and outcome = 'lapsed'))`,
  "a project that is not connected goes on": `select d.id from deployments as d
    join projects as p on p.id = d.project_id
    where d.organization_id = ?1 and (
      (p.connection_status <> 'connected' and d.status in ('queued', 'in_progress'))
      or (p.connection_status = 'disconnected' and d.status = 'canceling'))`,
  "a project waits to be disconnected": `select id from projects as p
    where organization_id = ?1 and connection_status = 'disconnecting' and not exists (
      select 1 from deployments where project_id = p.id and status not in ${FINAL})`,
  "a finished deployment has an unfinished stack": `select d.id from deployment_stacks as s
    join deployments as d on d.id = s.deployment_id
    where s.organization_id = ?1 and s.status in ('pending', 'in_progress')
      and d.status in ${FINAL}`,
};

const CHECK = `select ${Object.entries(BREACHES)
  .map(([words, query]) => `(select id from (${query}) limit 1) as "${words}"`)
  .join(", ")}`;

/** What is broken in an organization, in words. */
export async function findBreaches(organizationId: string): Promise<string[]> {
  const found = await env.DB.prepare(CHECK)
    .bind(organizationId)
    .first<Record<string, string | null>>();
  return Object.entries(found ?? {})
    .filter(([, id]) => id !== null)
    .map(([words, id]) => `${words}: ${id}`);
}
