import { and, type Column, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../../context.ts";
import type { Database } from "../../../../db/client.ts";
import { projects } from "../../../tenancy/project-table.ts";
import { DEPLOYMENT_FAILURES } from "../lifecycle.ts";
import {
  ACTIVE_STACK_STATUSES,
  ACTIVE_STATUSES,
  attemptOutcome,
  attemptState,
  attempts,
  deploymentStacks,
  deploymentStatus,
  deployments,
  stackStatus,
} from "../table.ts";
import { writeStatusEvents } from "../write-events.ts";
import { changedDeployments } from "./changed-deployments.ts";
import { type EnvironmentFilter, environmentIdsOf, matchesFilter } from "./environment-filter.ts";

/** Completes the changes of deployments in the same batch, as far as `changedDeployments` goes. */
export function finalize(ctx: SystemContext, filter: EnvironmentFilter, now: number) {
  const { db } = ctx;
  const changed = changedDeployments(filter);
  return {
    attempts: endAttempts(db, filter, now),
    stacks: endStacks(db, changed, now),
    projects: disconnectProjects(db, filter, now),
    ...writeStatusEvents(ctx, changed),
  };
}

function endAttempts(db: Database, filter: EnvironmentFilter, now: number) {
  return db
    .update(attempts)
    .set({
      state: "ended",
      outcome: sql`case when lost_at <= ${now} then ${attemptOutcome.lost}
        else ${attemptOutcome.revoked} end`,
      endedAt: now,
      checked: null,
    })
    .where(
      and(
        matchesFilter(filter, attempts.environmentId),
        sql`${attempts.state} <> ${attemptState.ended}`,
        hasEnded(attempts.deploymentId),
      ),
    );
}

/** The quoted name of the stack that failed first, if its failure ended the deployment. */
const FAILED_STACK = sql`(select json_quote(stacks.name) from deployment_stacks as first_failed
  join stacks on stacks.id = first_failed.stack_id
  where first_failed.deployment_id = ended.id and first_failed.status = ${stackStatus.failed}
    and ended.failure_reason = ${DEPLOYMENT_FAILURES.stackFailed}
  order by first_failed.timestamp, first_failed.position limit 1)`;

/** A stack in progress ends like its deployment. A pending stack is skipped or canceled. */
function endStacks(db: Database, changed: SQL, now: number) {
  const { pending, canceled, failed, skipped } = stackStatus;
  const because = sql`iif(deployment_stacks.status = ${pending}, 'Not started because ', 'Did not finish because ')
    || ${FAILED_STACK} || ' failed.'`;
  return db
    .update(deploymentStacks)
    .set({
      status: sql`case when ended.status = ${deploymentStatus.canceled} then ${canceled}
        when deployment_stacks.status = ${pending} then ${skipped} else ${failed} end`,
      statusReason: sql`case when ended.status = ${deploymentStatus.failed}
        then coalesce(${because}, ended.message, ended.failure_reason, status_reason) else status_reason end`,
      timestamp: now,
    })
    .from(sql`deployments as ended`)
    .where(
      sql`ended.id in ${changed} and ended.status not in ${ACTIVE_STATUSES}
        and deployment_stacks.deployment_id = ended.id
        and deployment_stacks.status in ${ACTIVE_STACK_STATUSES}`,
    );
}

function disconnectProjects(db: Database, filter: EnvironmentFilter, now: number) {
  return db
    .update(projects)
    .set({ connectionStatus: "disconnected", updatedAt: now })
    .where(
      and(
        filter === "everything"
          ? undefined
          : sql`${projects.id} in (select project_id from environments
              where id in ${environmentIdsOf(filter)})`,
        sql`${projects.connectionStatus} = 'disconnecting'`,
        sql`not exists (select 1 from ${deployments} as active
          where active.project_id = ${projects.id} and active.status in ${ACTIVE_STATUSES})`,
      ),
    );
}

function hasEnded(deploymentId: Column): SQL {
  return sql`exists (select 1 from ${deployments} as ended
    where ended.id = ${deploymentId} and ended.status not in ${ACTIVE_STATUSES})`;
}
