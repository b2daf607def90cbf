import type { RunnerContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import {
  type Completion,
  completeDeployment,
  expire,
  finalize,
  hasEnded,
  incrementEpoch,
  insertAttempt,
  OFFER_TTL_MS,
  releaseOffer,
  toCompletionText,
} from "../deployments/index.ts";
import { type Directive, directiveFor } from "./directive.ts";
import {
  AttemptConflict,
  DeploymentEnded,
  LeaseLost,
  mustComplete,
  OTHER_OUTCOME,
} from "./errors.ts";
import { authenticateLease, type LeaseCredentials, requireLease, requireRunning } from "./lease.ts";
import { saveRunner } from "./presence.ts";
import type { AttemptRow, ClaimRow } from "./store.ts";
import * as store from "./store.ts";

export interface Claim {
  row: ClaimRow;
  leaseToken: string;
  directive: Directive;
}

export interface ClaimRequest {
  requestId: string;
  /** Claims no other one. Throws `DeploymentEnded` once it has ended. */
  deploymentId: string | undefined;
  runnerName: string;
  runnerVersion: string | undefined;
}

/**
 * The same request gives the same attempt, even if it has ended. Applies the time limits of the
 * pool's environments first.
 */
export async function claimDeployment(
  ctx: RunnerContext,
  request: ClaimRequest,
): Promise<Claim | undefined> {
  const { db, clock } = ctx;
  const now = clock.now();
  const { poolId, keyId: tokenId } = ctx.runner;
  const { requestId, deploymentId } = request;
  const offeredUntil = now + OFFER_TTL_MS;
  const attempt = { ...request, id: newId(clock), poolId, tokenId, now, offeredUntil };
  const results = await batch(ctx.db, {
    expired: expire(db, { pool: poolId }, now),
    finalized: finalize(ctx, { pool: poolId }, now),
    attempt: insertAttempt(db, attempt),
    epoch: incrementEpoch(db, attempt.id),
    seen: saveRunner(db, { ...attempt, id: newId(clock) }),
    claim: store.findClaim(db, poolId, requestId),
    wanted: deploymentId === undefined ? undefined : store.findWanted(db, poolId, deploymentId),
  });
  const [row] = results.claim;
  if (row) return toClaim(ctx, row, now);
  if (deploymentId === undefined) return undefined;
  const [wanted] = results.wanted ?? [];
  if (!wanted) throw new NotFound("deployment");
  if (hasEnded(wanted.status)) throw new DeploymentEnded(wanted.status);
  return undefined;
}

export async function listAttempts(ctx: RunnerContext, page: PageRequest): Promise<Page<Claim>> {
  const now = ctx.clock.now();
  const found = await store.listClaims(ctx.db, ctx.runner, page, now);
  const { rows, next } = toPage(page, found, ({ attemptCreatedAt, attemptId }) => ({
    createdAt: attemptCreatedAt,
    id: attemptId,
  }));
  return { rows: await Promise.all(rows.map((row) => toClaim(ctx, row, now))), next };
}

async function toClaim(ctx: RunnerContext, row: ClaimRow, now: number): Promise<Claim> {
  return {
    row,
    leaseToken: await ctx.leaseToken(row.attemptId),
    directive: directiveFor(row, now),
  };
}

export async function sendHeartbeat(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
): Promise<Directive> {
  const key = await authenticateLease(ctx, credentials);
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await batch(db, {
    renewed: store.renewLease(db, key, now),
    attempt: store.findAttempt(db, key),
  });
  return directiveFor(requireRunning(results.attempt[0], now), now);
}

/** Idempotent. */
export async function releaseAttempt(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
): Promise<Directive> {
  const key = await authenticateLease(ctx, credentials);
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await batch(db, {
    released: releaseOffer(db, key, now),
    finalized: finalize(ctx, { attempt: key.id }, now),
    attempt: store.findAttempt(db, key),
  });
  const [attempt] = results.attempt;
  if (attempt?.outcome === "released") return "stop";
  const lease = requireLease(attempt, now);
  throw new AttemptConflict(mustComplete(lease.state), directiveFor(lease, now));
}

/** Idempotent. Throws `Conflict` for a second, different completion. */
export async function completeAttempt(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
  completion: Completion,
): Promise<AttemptRow> {
  const key = await authenticateLease(ctx, credentials);
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await batch(ctx.db, {
    completed: completeDeployment(db, key, completion, now),
    finalized: finalize(ctx, { attempt: key.id }, now),
    attempt: store.findAttempt(db, key),
  });
  const [attempt] = results.attempt;
  if (!attempt) throw new NotFound("attempt");
  if (attempt.completion === toCompletionText(completion)) return attempt;
  if (attempt.completion !== null) {
    throw new AttemptConflict(OTHER_OUTCOME, "stop");
  }
  requireRunning(attempt, now);
  throw new LeaseLost();
}
