import { and, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { FAILURES, type Outcome } from "../deployments/index.ts";
import { attempts, deployments } from "../deployments/table.ts";
import { environments } from "../environments/table.ts";
import { deploymentOf, holds, type Reference, within } from "./store.ts";

export interface Completion {
  outcome: Outcome;
  failureReason: string | null;
  message: string | null;
}

/**
 * Ends a deployment with the outcome that its runner reports, with three exceptions: past the time of
 * its pool it fails; while canceling it ends canceled; and it does not succeed with a stack that has
 * not. Success makes the copy the environment's configuration. For one batch that `finalize` goes on.
 */
export function complete(
  db: Database,
  reference: Reference,
  { outcome, failureReason, message }: Completion,
  now: number,
) {
  const { status, reason } = resolveOutcome(outcome, failureReason, now);
  return {
    deployment: db
      .update(deployments)
      .set({ status, failureReason: reason, message, finishedAt: now, updatedAt: now })
      .where(
        and(
          sql`${deployments.id} = ${deploymentOf(reference)}`,
          sql`${deployments.status} in ('in_progress', 'canceling')`,
          holds(reference, now),
        ),
      ),
    attempt: db
      .update(attempts)
      .set({
        state: "ended",
        outcome,
        completion: toCompletionText({ outcome, failureReason, message }),
        endedAt: now,
      })
      .where(and(within(reference), sql`changes() > 0`)),
    environment: db
      .update(environments)
      .set({
        configuration: sql`(select configuration from deployments
          where id = ${deploymentOf(reference)})`,
        updatedAt: now,
      })
      .where(
        sql`changes() > 0 and ${environments.id} = (select won.environment_id
          from deployments as won
          where won.id = ${deploymentOf(reference)} and won.status = 'succeeded')`,
      ),
  };
}

/** What a deployment ends as when its runner says this, and why; in the terms of its own row. */
function resolveOutcome(outcome: Outcome, failureReason: string | null, now: number) {
  const hasStack = (condition: string) => sql`exists (select 1 from deployment_stacks as part
    where part.deployment_id = deployments.id and part.status ${sql.raw(condition)})`;
  const hasFailed = hasStack("= 'failed'");
  const isUnfinished = sql`${outcome} = 'succeeded' and ${hasStack("not in ('succeeded', 'skipped')")}`;
  // Whether or not a sweep has asked to cancel: `directiveFor` has, since then.
  const isTimeout = sql`(failure_reason is ${FAILURES.runTimeout}
    or status = 'in_progress' and exists (select 1 from attempts as held
      where held.deployment_id = deployments.id and held.state = 'running'
        and held.run_until <= ${now}))`;
  const status = sql`case when ${isTimeout} then 'failed'
    when status = 'canceling' then 'canceled'
    when ${hasFailed} or ${isUnfinished} then 'failed'
    else ${outcome} end`;
  const reason = sql`case when ${isTimeout} then ${FAILURES.runTimeout}
    when status = 'canceling' then null
    when ${outcome} = 'failed' and ${failureReason} is not null then ${failureReason}
    when ${hasFailed} then ${FAILURES.stackFailed}
    when ${isUnfinished} then ${FAILURES.stacksUnfinished} end`;
  return { status, reason };
}

/** A completion as it is kept: the same body gives the same text. */
export function toCompletionText({ outcome, failureReason, message }: Completion): string {
  return JSON.stringify([outcome, failureReason, message]);
}
