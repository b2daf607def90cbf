import type { RunnerContext } from "../../../context.ts";
import { BoundedMap } from "../../../lib/bounded-map.ts";
import { NotFound } from "../../../lib/errors.ts";
import {
  AttemptConflict,
  authenticateLease,
  type Directive,
  type LeaseCredentials,
  LeaseLost,
} from "../runner-api/index.ts";
import { callLog } from "./client.ts";
import { findAppendableAttempt } from "./store.ts";

interface AttemptAccess {
  poolId: string;
  deploymentId: string;
  stackIds: ReadonlySet<string>;
}

const MAX_ATTEMPTS = 10_000;

/** Of started attempts, whose pool, deployment and stacks never change. */
const accesses = new BoundedMap<string, AttemptAccess>(MAX_ATTEMPTS);

export interface AppendInput {
  stackId: string;
  offset: number;
  bytes: Uint8Array;
}

/** The offset is ahead of the log. */
export class LogGap extends AttemptConflict {
  constructor(nextOffset: number) {
    super(`Bytes before the offset are missing. Send them from ${nextOffset} on.`, "continue", {
      next_offset: nextOffset,
    });
  }
}

/**
 * Appends to the log of the runner's own attempt. Idempotent. Reads the database only for the first
 * request of an attempt in an isolate.
 */
export async function appendToLog(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
  { stackId, offset, bytes }: AppendInput,
): Promise<{ nextOffset: number; directive: Directive }> {
  const { id: attemptId, poolId } = await authenticateLease(ctx, credentials);
  const { deploymentId, stackIds } = await findAccess(ctx, attemptId, poolId);
  if (!stackIds.has(stackId)) throw new NotFound("stack in the deployment");
  const { limitsOrganizationId } = ctx.runner;
  const request = { deploymentId, attemptId, limitsOrganizationId, stackId, offset, bytes };
  const result = await callLog(ctx, deploymentId, (log) => log.append(request));
  if (result.kind === "ended") throw new LeaseLost();
  if (result.kind === "gap") throw new LogGap(result.nextOffset);
  const { nextOffset, isCanceling, hasEnded } = result;
  return { nextOffset, directive: hasEnded ? "stop" : isCanceling ? "cancel" : "continue" };
}

async function findAccess(
  ctx: RunnerContext,
  attemptId: string,
  poolId: string,
): Promise<AttemptAccess> {
  const cached = accesses.get(attemptId);
  if (cached?.poolId === poolId) return cached;
  const [found] = await findAppendableAttempt(ctx.db, { id: attemptId, poolId });
  if (!found) throw new NotFound("attempt");
  if (found.startedAt === null) {
    if (found.endedAt !== null) throw new LeaseLost();
    throw new AttemptConflict("Start the attempt first.", "continue");
  }
  const stackIds = new Set(JSON.parse(found.stackIds) as string[]);
  const access = { poolId, deploymentId: found.deploymentId, stackIds };
  accesses.set(attemptId, access);
  return access;
}
