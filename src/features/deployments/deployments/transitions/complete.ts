import { and, type SQL, sql } from "drizzle-orm";
import { after } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/client.ts";
import { environments } from "../../../tenancy/environment-table.ts";
import { DEPLOYMENT_FAILURES, type StackStatus } from "../lifecycle.ts";
import { type Completion, toCompletionText } from "../model.ts";
import {
  attemptState,
  attempts,
  deploymentStatus,
  deployments,
  literalList,
  RUNNING_STATUSES,
  stackStatus,
} from "../table.ts";
import { type AttemptKey, deploymentIdOf, isAttempt, whereLeaseIsValid } from "./lease.ts";

const SUCCESSFUL_STACK_STATUSES = literalList<StackStatus>(["succeeded", "skipped"]);

/**
 * If the deployment succeeds, its configuration and source become the environment's, whose version increases if
 * the configuration differs. Precedes `finalize` in a batch.
 */
export function completeDeployment(
  db: Database,
  attempt: AttemptKey,
  completion: Completion,
  now: number,
) {
  const deploymentId = deploymentIdOf(attempt);
  const { message, outcome } = completion;
  const deployment = db
    .update(deployments)
    .set({ ...resolveOutcome(completion, now), message, finishedAt: now, updatedAt: now })
    .where(
      and(
        sql`${deployments.id} = ${deploymentId}`,
        sql`${deployments.status} in ${RUNNING_STATUSES}`,
        whereLeaseIsValid(attempt, now),
      ),
    );
  const ended = after(deployment, (hasChanged) =>
    db
      .update(attempts)
      .set({
        state: "ended",
        outcome,
        completion: toCompletionText(completion),
        endedAt: now,
        checked: null,
      })
      .where(and(isAttempt(attempt), hasChanged)),
  );
  const deployed = (column: string) =>
    sql`(select ${sql.raw(column)} from deployments where id = ${deploymentId})`;
  const environment = after(ended, (hasChanged) =>
    db
      .update(environments)
      .set({
        configuration: deployed("configuration"),
        source: deployed("source"),
        updatedAt: now,
        version: sql`${environments.version} + (${environments.configuration} <> ${deployed("configuration")})`,
      })
      .where(
        sql`${hasChanged} and ${environments.id} = (select deployments.environment_id
          from deployments where deployments.id = ${deploymentId}
            and deployments.status = ${deploymentStatus.succeeded})`,
      ),
  );
  return { deployment, ended, environment };
}

/**
 * Follows the runner's outcome unless the run has exceeded its time, the deployment is canceling,
 * or a stack has not succeeded.
 */
function resolveOutcome({ outcome, failureReason }: Completion, now: number) {
  const { in_progress, canceling, canceled, failed, succeeded } = deploymentStatus;
  const hasFailedStack = hasStack(sql`= ${stackStatus.failed}`);
  const isIncomplete = sql`${outcome} = ${succeeded}
    and ${hasStack(sql`not in ${SUCCESSFUL_STACK_STATUSES}`)}`;
  // `expire` may not have seen the timeout yet, although `directiveFor` already says `cancel`.
  const isTimeout = sql`(failure_reason is ${DEPLOYMENT_FAILURES.runTimeout}
    or status = ${in_progress} and exists (select 1 from attempts
      where attempts.deployment_id = deployments.id and attempts.state = ${attemptState.running}
        and attempts.run_until <= ${now}))`;
  return {
    status: sql`case when ${isTimeout} then ${failed}
      when status = ${canceling} then ${canceled}
      when ${hasFailedStack} or ${isIncomplete} then ${failed}
      else ${outcome} end`,
    failureReason: sql`case when ${isTimeout} then ${DEPLOYMENT_FAILURES.runTimeout}
      when status = ${canceling} then null
      when ${outcome} = ${failed} and ${failureReason} is not null then ${failureReason}
      when ${hasFailedStack} then ${DEPLOYMENT_FAILURES.stackFailed}
      when ${isIncomplete} then ${DEPLOYMENT_FAILURES.stacksUnfinished} end`,
  };
}

function hasStack(status: SQL): SQL {
  return sql`exists (select 1 from deployment_stacks
    where deployment_stacks.deployment_id = deployments.id and deployment_stacks.status ${status})`;
}
