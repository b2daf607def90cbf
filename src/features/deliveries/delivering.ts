import { commit } from "../events/index.ts";
import type { Candidate } from "./claim-store.ts";
import type { Failure } from "./outcome.ts";
import * as store from "./record-store.ts";
import { FAILING_MS, pauseUntil, retryAt } from "./schedule.ts";
import { type Result, type SendingContext, send } from "./sender.ts";

export interface DeliveringContext extends SendingContext {
  /** From 0 to 1, without 1. */
  random(): number;
}

/**
 * Sends a claimed delivery and records what came of it. Answers when it is to be sent again, if it
 * is, and if nobody else has claimed it in the meantime.
 */
export async function deliver(
  ctx: DeliveringContext,
  claimed: Candidate,
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
    return recordFailure(ctx, claimed, attempt, setbackOf(ctx, claimed, outcome, result));
  }
  await ctx.db.batch([
    store.succeed(ctx.db, claimed, now),
    store.insertAttempt(ctx.db, claimed, attempt),
    store.endFailing(ctx.db, claimed),
  ]);
  return undefined;
}

function setbackOf(
  { clock, random }: DeliveringContext,
  { attempts }: Candidate,
  { isGone, asksForRest }: Failure,
  { notBefore }: Result,
): store.Setback {
  const now = clock.now();
  const dueAt = retryAt(attempts, now, { random, notBefore });
  const pausedUntil = asksForRest ? pauseUntil(now, dueAt, notBefore) : undefined;
  return { dueAt, isLast: dueAt === undefined, pausedUntil, isGone };
}

async function recordFailure(
  ctx: DeliveringContext,
  claimed: Candidate,
  attempt: store.Attempt,
  setback: store.Setback,
): Promise<number | undefined> {
  const { db } = ctx;
  const now = ctx.clock.now();
  // A single failure after days of silence says little: it has to fail once more.
  const isFailing = claimed.attempts > 1 && now - (claimed.failingSince ?? now) >= FAILING_MS;
  const [[mine]] = await commit(ctx, [
    store.fail(db, claimed, setback, now),
    store.insertAttempt(db, claimed, attempt),
    store.beginFailing(db, claimed, setback, now),
    ...(setback.isGone || isFailing
      ? store.disable(ctx, claimed, setback.isGone ? "gone" : "failing", now)
      : []),
  ]);
  return mine?.status === "pending" ? setback.dueAt : undefined;
}
