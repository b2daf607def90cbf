import { and, sql } from "drizzle-orm";
import { after } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/client.ts";
import { nextVersion } from "../../../../db/expected-version.ts";
import { BASIS, type Condition, hasFacts, type Override } from "../../conditions/index.ts";
import { DEPLOYMENT_FAILURES } from "../lifecycle.ts";
import { attemptOutcome, attempts, deploymentStatus, deployments } from "../table.ts";
import { type AttemptKey, deploymentIdOf, isAttempt } from "./lease.ts";
import { whereOfferIsValid } from "./start.ts";

/** What was evaluated of a deployment, and from when it may start. */
export interface Evaluation {
  id: string;
  /** As they were read: without them, nothing is changed. */
  facts: string | null;
  heldUntil: number;
  /** Those that are missing. None: it has all. */
  approvals: readonly Condition[];
}

export const isEvaluated = ({ id, facts }: Pick<Evaluation, "id" | "facts">) =>
  and(
    sql`${deployments.id} = ${id} and ${deployments.status} = ${deploymentStatus.queued}`,
    hasFacts(facts),
  );

export function holdDeployment(db: Database, evaluation: Evaluation, now: number) {
  return db
    .update(deployments)
    .set({
      heldUntil: evaluation.heldUntil,
      evaluatedAt: now,
      awaitsApproval: evaluation.approvals.length > 0,
    })
    .where(isEvaluated(evaluation));
}

/** Precedes `finalize` in a batch, as the next one does. */
export function expireApprovals(db: Database, evaluation: Evaluation, now: number) {
  return db
    .update(deployments)
    .set({ ...canceledAt(now), failureReason: DEPLOYMENT_FAILURES.approvalExpired })
    .where(isEvaluated(evaluation));
}

/** @param approvalId Of the rejection, which the same batch has inserted. */
export function rejectDeployment(
  db: Database,
  { id, approvalId, message }: { id: string; approvalId: string; message: string },
  now: number,
) {
  return db
    .update(deployments)
    .set({ ...canceledAt(now), failureReason: DEPLOYMENT_FAILURES.rejected, message })
    .where(
      sql`${deployments.id} = ${id} and ${deployments.status} = ${deploymentStatus.queued}
        and exists (select 1 from deployment_approvals where id = ${approvalId})`,
    );
}

/** Until the content is another one. */
export function overrideConditions(db: Database, id: string, facts: string, override: Override) {
  const overridden = sql`json_set(${JSON.stringify(override)}, '$.basis', ${BASIS})`;
  return db
    .update(deployments)
    .set({ overridden, heldUntil: null, version: nextVersion(deployments.version) })
    .where(isEvaluated({ id, facts }))
    .returning({ id: deployments.id });
}

/**
 * Ends an offer whose deployment does not meet the rules. It has not lapsed, and the deployment stays queued. Of its
 * refused attempts, only this one is kept: their number has no other bound.
 */
export function refuseStart(
  db: Database,
  attempt: AttemptKey,
  { facts, heldUntil }: Pick<Evaluation, "facts" | "heldUntil">,
  now: number,
) {
  const held = db
    .update(deployments)
    .set({ heldUntil, evaluatedAt: now })
    .where(and(whereOfferIsValid(attempt, CURRENT_VERSION, now), hasFacts(facts)));
  const ended = after(held, (hasChanged) =>
    db
      .update(attempts)
      .set({ state: "ended", outcome: "refused", endedAt: now })
      .where(and(isAttempt(attempt), hasChanged)),
  );
  const earlier = db.delete(attempts).where(
    sql`${attempts.deploymentId} = ${deploymentIdOf(attempt)} and ${attempts.id} <> ${attempt.id}
        and ${attempts.outcome} = ${attemptOutcome.refused}`,
  );
  return { held, ended, earlier };
}

/** Whatever version the deployment is based on. */
const CURRENT_VERSION = sql`environments.configuration_version`;

function canceledAt(now: number) {
  return {
    status: "canceled",
    finishedAt: now,
    updatedAt: now,
    version: nextVersion(deployments.version),
  } as const;
}
