import { commit, runBatch } from "../../../db/batch.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { Failure } from "./outcome.ts";
import * as store from "./record.ts";
import { FAILING_MS, pauseUntil, retryAt } from "./retry-schedule.ts";
import { type Result, type SendingContext, send } from "./send.ts";

export interface DeliveringContext extends SendingContext {
  /** From 0 to 1, without 1. */
  random(): number;
}

/**
 * Sends a claimed delivery and records the attempt. Returns when it is due again, if it is, and if no
 * other consumer has claimed it in the meantime.
 */
export async function deliver(
  ctx: DeliveringContext,
  claimed: ClaimedDelivery,
): Promise<number | undefined> {
  const startedAt = ctx.clock.now();
  const result = await send(ctx, claimed);
  const now = ctx.clock.now();
  const { outcome, statusCode, response } = result;
  const attempt: store.Attempt = {
    startedAt,
    durationMs: now - startedAt,
    ...(statusCode !== undefined && { statusCode }),
    ...(!outcome.success && { error: outcome.error }),
    ...(response && { response }),
  };
  if (!outcome.success) {
    return recordFailure(ctx, claimed, attempt, failedAttemptOf(ctx, claimed, outcome, result));
  }
  await runBatch(ctx.db, {
    delivery: store.succeed(ctx.db, claimed, now),
    attempt: store.insertAttempt(ctx.db, claimed, attempt),
    integration: store.endFailing(ctx.db, claimed),
  });
  return undefined;
}

function failedAttemptOf(
  { clock, random }: DeliveringContext,
  { recordedAttempts }: ClaimedDelivery,
  { isGone, asksForRest }: Failure,
  { notBefore }: Result,
): store.FailedAttempt {
  const now = clock.now();
  const dueAt = retryAt(recordedAttempts + 1, now, { random, notBefore });
  const pausedUntil = asksForRest ? pauseUntil(now, dueAt, notBefore) : undefined;
  return { dueAt, isLast: dueAt === undefined, pausedUntil, isGone };
}

async function recordFailure(
  ctx: DeliveringContext,
  claimed: ClaimedDelivery,
  attempt: store.Attempt,
  failed: store.FailedAttempt,
): Promise<number | undefined> {
  const { db } = ctx;
  const now = ctx.clock.now();
  // A single failure after days of silence says little: it has to fail once more.
  const isFailing =
    claimed.recordedAttempts > 0 && now - (claimed.failingSince ?? now) >= FAILING_MS;
  const reason = failed.isGone ? "gone" : "failing";
  const { delivery } = await commit(ctx, {
    delivery: store.fail(db, claimed, failed, now),
    attempt: store.insertAttempt(db, claimed, attempt),
    integration: store.beginFailing(db, claimed, failed, now),
    disabled: failed.isGone || isFailing ? store.disable(ctx, claimed, reason, now) : undefined,
  });
  return delivery[0]?.status === "pending" ? failed.dueAt : undefined;
}
