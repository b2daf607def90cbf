import { and, type Column, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../../context.ts";
import type { Database } from "../../../../db/client.ts";
import { projects } from "../../../tenancy/project-table.ts";
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
import { type EnvironmentFilter, environmentIdsOf, matchesFilter } from "./environment-filter.ts";

/** Completes any change of deployments in the same batch. */
export function finalize(ctx: SystemContext, filter: EnvironmentFilter, now: number) {
  const { db } = ctx;
  return {
    attempts: endAttempts(db, filter, now),
    stacks: endStacks(db, filter, now),
    projects: disconnectProjects(db, filter, now),
    ...writeStatusEvents(ctx, filter),
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
    })
    .where(
      and(
        matchesFilter(filter, attempts.environmentId),
        sql`${attempts.state} <> ${attemptState.ended}`,
        hasEnded(attempts.deploymentId),
      ),
    );
}

/** A stack in progress ends like its deployment. A pending stack is skipped or canceled. */
function endStacks(db: Database, filter: EnvironmentFilter, now: number) {
  const { pending, canceled, failed, skipped } = stackStatus;
  const ofDeployment = (column: string) =>
    sql`(select deployments.${sql.raw(column)} from deployments
      where deployments.id = deployment_stacks.deployment_id)`;
  const deployment = ofDeployment("status");
  return db
    .update(deploymentStacks)
    .set({
      status: sql`case when ${deployment} = ${deploymentStatus.canceled} then ${canceled}
        when deployment_stacks.status = ${pending} then ${skipped} else ${failed} end`,
      statusReason: sql`case when ${deployment} = ${deploymentStatus.failed}
        then coalesce(${ofDeployment("message")}, ${ofDeployment("failure_reason")}, status_reason)
        else status_reason end`,
      timestamp: now,
    })
    .where(
      and(
        // The stacks of queued deployments may be many. `status <> announced` is the condition of an index.
        sql`${deploymentStacks.deploymentId} in (select ended.id from deployments as ended
          where ${matchesFilter(filter, sql`ended.environment_id`) ?? sql`true`}
            and ended.status <> ended.announced and ended.status not in ${ACTIVE_STATUSES})`,
        sql`${deploymentStacks.status} in ${ACTIVE_STACK_STATUSES}`,
      ),
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
