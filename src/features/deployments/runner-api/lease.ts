import type { RunnerContext } from "../../../context.ts";
import { equalInConstantTime } from "../../../lib/digest.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { AttemptKey } from "../deployments/index.ts";
import { directiveFor, isLeaseValid, type Lease } from "./directive.ts";
import { AttemptConflict, LeaseLost, NOT_STARTED } from "./errors.ts";
import { type AttemptRow, findAttempt } from "./store.ts";

export interface LeaseCredentials {
  attemptId: string;
  leaseToken: string | undefined;
}

/** Reads the attempt only if the token is wrong, because another pool's attempt is not found. */
export async function authenticateLease(
  ctx: RunnerContext,
  { attemptId, leaseToken }: LeaseCredentials,
): Promise<AttemptKey> {
  const key = { id: attemptId, poolId: ctx.runner.poolId };
  const expected = await ctx.leaseToken(attemptId);
  if (leaseToken && (await equalInConstantTime(leaseToken, expected))) return key;
  const [attempt] = await findAttempt(ctx.db, key);
  if (!attempt) throw new NotFound("attempt");
  throw new LeaseLost();
}

/** Accepts an offer too. */
export function requireLease<Attempt extends Lease>(
  attempt: Attempt | undefined,
  now: number,
): Attempt {
  if (!attempt) throw new NotFound("attempt");
  if (!isLeaseValid(attempt, now)) throw new LeaseLost();
  return attempt;
}

export function requireRunning(row: AttemptRow | undefined, now: number): AttemptRow {
  const attempt = requireLease(row, now);
  if (attempt.state === "running") return attempt;
  throw new AttemptConflict(NOT_STARTED, directiveFor(attempt, now));
}
