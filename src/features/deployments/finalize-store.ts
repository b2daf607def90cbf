import { and, type Column, inArray, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { projects } from "../projects/table.ts";
import { announce } from "./announcement-store.ts";
import { environmentsOf, inScope, type Scope } from "./environment-scope.ts";
import { CANCEL_MS, FAILURES, MAXIMUM_LAPSED_OFFERS } from "./lifecycle.ts";
import { ACTIVE_STATUSES, attempts, deploymentStacks, deployments } from "./table.ts";

/**
 * Ends what time ends: offers that lapsed, which queues their deployments again or fails them after
 * the last; runners that are lost, and cancellations past their deadline; and runs past their time,
 * which are asked to cancel. For one batch that `finalize` ends.
 */
export function sweep(db: Database, scope: Scope, now: number) {
  return {
    lapsedOffers: countLapsedOffers(db, scope, now),
    offers: lapseOffers(db, scope, now),
    overdue: endOverdue(db, scope, now),
    timedOut: cancelTimedOut(db, scope, now),
  };
}

/** Before `lapseOffers`, which ends the attempts that this finds. */
function countLapsedOffers(db: Database, scope: Scope, now: number) {
  const ifLast = (value: SQL) =>
    sql`case when lapsed_offers + 1 >= ${MAXIMUM_LAPSED_OFFERS} then ${value} end`;
  return db
    .update(deployments)
    .set({
      lapsedOffers: sql`lapsed_offers + 1`,
      status: sql`coalesce(${ifLast(sql`'failed'`)}, status)`,
      failureReason: ifLast(sql`${FAILURES.neverStarted}`),
      finishedAt: ifLast(sql`${now}`),
      updatedAt: sql`coalesce(${ifLast(sql`${now}`)}, updated_at)`,
    })
    .where(
      and(
        sql`${deployments.status} = 'queued'`,
        sql`${deployments.id} in (select deployment_id from attempts
          where state <> 'ended' and state = 'offered' and offered_until <= ${now}
            and ${inScope(scope, attempts.environmentId) ?? sql`true`})`,
      ),
    );
}

/** Ends the deployments of runners that are lost, and those that are canceling past the deadline. */
function endOverdue(db: Database, scope: Scope, now: number) {
  const isLost = sql`exists (select 1 from attempts as held
    where held.environment_id = ${deployments.environmentId} and held.state = 'running'
      and held.deployment_id = ${deployments.id} and held.lost_at <= ${now})`;
  // While canceling, the only reason that there can be is the run timeout.
  return db
    .update(deployments)
    .set({
      status: sql`case when status = 'canceling' and failure_reason is null then 'canceled'
        else 'failed' end`,
      failureReason: sql`case status when 'canceling' then failure_reason
        else ${FAILURES.runnerLost} end`,
      finishedAt: now,
      updatedAt: now,
    })
    .where(
      and(
        inScope(scope, deployments.environmentId),
        sql`${deployments.status} in ('in_progress', 'canceling')`,
        sql`(${isLost} or ${deployments.status} = 'canceling'
          and ${deployments.cancelDeadline} <= ${now})`,
      ),
    );
}

/** Asks runs past the time of their pool to cancel; they end as `failed`, by then or by the deadline. */
function cancelTimedOut(db: Database, scope: Scope, now: number) {
  return db
    .update(deployments)
    .set({
      status: "canceling",
      failureReason: FAILURES.runTimeout,
      cancelDeadline: now + CANCEL_MS,
      updatedAt: now,
    })
    .where(
      and(
        sql`${deployments.status} = 'in_progress'`,
        sql`${deployments.id} in (select deployment_id from attempts
          where state <> 'ended' and state = 'running' and run_until <= ${now}
            and ${inScope(scope, attempts.environmentId) ?? sql`true`})`,
      ),
    );
}

function lapseOffers(db: Database, scope: Scope, now: number) {
  return db
    .update(attempts)
    .set({ state: "ended", outcome: "lapsed", endedAt: now })
    .where(
      and(
        inScope(scope, attempts.environmentId),
        // Says what the partial index holds, which a parameter could not.
        sql`${attempts.state} <> 'ended' and ${attempts.state} = 'offered'`,
        sql`${attempts.offeredUntil} <= ${now}`,
      ),
    );
}

/** Cancels what has not started, and asks what runs to cancel. For one batch that `finalize` ends. */
export function cancelUnfinished(
  db: Database,
  which: { deployment: string } | { project: string },
  now: number,
) {
  return db
    .update(deployments)
    .set({
      status: sql`case status when 'queued' then 'canceled' else 'canceling' end`,
      cancelDeadline: sql`case status when 'queued' then null else ${now + CANCEL_MS} end`,
      finishedAt: sql`case status when 'queued' then ${now} end`,
      updatedAt: now,
    })
    .where(
      and(
        "project" in which
          ? sql`${deployments.projectId} = ${which.project}`
          : sql`${deployments.id} = ${which.deployment}`,
        inArray(deployments.status, ["queued", "in_progress"]),
      ),
    )
    .returning({ id: deployments.id });
}

/**
 * After any change to deployments, in the same batch: ends the attempts and the stacks of those that
 * are finished, disconnects a project whose last one is, and writes the events of all that came of
 * it. For `commit`.
 */
export function finalize(ctx: SystemContext, scope: Scope, now: number) {
  const { db } = ctx;
  const finished = (deploymentId: Column) => sql`exists (select 1 from deployments as over
    where over.id = ${deploymentId} and over.status not in ${ACTIVE_STATUSES})`;
  return {
    attempts: db
      .update(attempts)
      .set({
        state: "ended",
        outcome: sql`case when lost_at <= ${now} then 'lost' else 'revoked' end`,
        endedAt: now,
      })
      .where(
        and(
          inScope(scope, attempts.environmentId),
          sql`${attempts.state} <> 'ended'`,
          finished(attempts.deploymentId),
        ),
      ),
    stacks: endStacks(
      db,
      and(inScope(scope, deploymentStacks.environmentId), finished(deploymentStacks.deploymentId)),
      now,
    ),
    projects: db
      .update(projects)
      .set({ connectionStatus: "disconnected", updatedAt: now })
      .where(
        and(
          scope === "everything"
            ? undefined
            : sql`${projects.id} in (select project_id from environments
                where id in ${environmentsOf(scope)})`,
          sql`${projects.connectionStatus} = 'disconnecting'`,
          sql`not exists (select 1 from deployments as live
            where live.project_id = ${projects.id} and live.status in ${ACTIVE_STATUSES})`,
        ),
      ),
    ...announce(ctx, scope),
  };
}

/** What was under way ends as its deployment did; what was not begun is skipped, or canceled. */
function endStacks(db: Database, which: SQL | undefined, now: number) {
  const of = (column: string) =>
    sql`(select over.${sql.raw(column)} from deployments as over
      where over.id = deployment_stacks.deployment_id)`;
  return db
    .update(deploymentStacks)
    .set({
      status: sql`case when ${of("status")} = 'canceled' then 'canceled'
        when deployment_stacks.status = 'pending' then 'skipped' else 'failed' end`,
      statusReason: sql`case when ${of("status")} = 'failed'
        then coalesce(${of("message")}, ${of("failure_reason")}, status_reason)
        else status_reason end`,
      timestamp: now,
    })
    .where(and(which, sql`${deploymentStacks.status} in ('pending', 'in_progress')`));
}
