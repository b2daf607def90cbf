import type { RunnerContext } from "../../context.ts";
import { commit, runBatch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { equalInConstantTime } from "../../lib/digest.ts";
import { NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { finalize, OFFER_MS, sweep } from "../deployments/index.ts";
import type { Claim, ClaimRow } from "./claim-store.ts";
import * as claims from "./claim-store.ts";
import type { Completion } from "./completion-store.ts";
import * as completions from "./completion-store.ts";
import { type Directive, directiveFor, type Hold, isLeaseHeld } from "./directive.ts";
import { AttemptConflict, LeaseLost } from "./errors.ts";
import type { LeaseRow, Reference } from "./store.ts";
import * as store from "./store.ts";

/** What a runner sends with each call about an attempt. */
export interface LeaseClaim {
  attemptId: string;
  leaseToken: string | undefined;
}

/**
 * Offers the runner the next deployment of its pool, if there is one. The same request gives the
 * same attempt, whatever has become of it. What nobody ended is ended first.
 */
export async function claimDeployment(
  ctx: RunnerContext,
  requestId: string,
): Promise<Claim | undefined> {
  const { db, clock } = ctx;
  const now = clock.now();
  const { poolId, keyId: tokenId } = ctx.runner;
  const offeredUntil = now + OFFER_MS;
  const attempt = { id: newId(clock), poolId, tokenId, requestId, now, offeredUntil };
  const results = await commit(ctx, {
    expired: sweep(db, { pool: poolId }, now),
    finalized: finalize(ctx, { pool: poolId }, now),
    attempt: claims.insertAttempt(db, attempt),
    epoch: claims.raiseEpoch(db, attempt.id),
    claim: claims.findClaim(db, poolId, requestId),
  });
  const [row] = results.claim;
  if (!row) return undefined;
  return { row, leaseToken: await ctx.leaseToken(row.attemptId), desired: directiveFor(row, now) };
}

/** The attempts that were claimed with the runner's token and are its own still. */
export async function listAttempts(ctx: RunnerContext, page: PageRequest): Promise<Page<Claim>> {
  const now = ctx.clock.now();
  const found = await claims.listClaims(ctx.db, ctx.runner, page, now);
  const { rows, next } = toPage(page, found, ({ attemptCreatedAt, attemptId }) => ({
    createdAt: attemptCreatedAt,
    id: attemptId,
  }));
  const toClaim = async (row: ClaimRow): Promise<Claim> => ({
    row,
    leaseToken: await ctx.leaseToken(row.attemptId),
    desired: directiveFor(row, now),
  });
  return { rows: await Promise.all(rows.map(toClaim)), next };
}

/** Says that the runner lives: its lease begins anew. */
export async function sendHeartbeat(ctx: RunnerContext, claim: LeaseClaim): Promise<Directive> {
  const reference = await requireLease(ctx, claim);
  const { db } = ctx;
  const now = ctx.clock.now();
  const { lease } = await runBatch(db, {
    renewed: store.renewLease(db, reference, now),
    lease: store.findLease(db, reference),
  });
  const [found] = lease;
  return directiveFor(requireRunning(found, now), now);
}

/** Gives an offer back before it is started; again, it changes nothing. */
export async function releaseAttempt(ctx: RunnerContext, lease: LeaseClaim): Promise<Directive> {
  const reference = await requireLease(ctx, lease);
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await runBatch(db, {
    released: store.release(db, reference, now),
    lease: store.findLease(db, reference),
  });
  const [hold] = results.lease;
  if (!hold) throw new NotFound("attempt");
  if (hold.outcome === "released") return "stop";
  const { state } = requireLeaseHeld(hold, now);
  throw new AttemptConflict(`The attempt is ${state}: complete it.`, directiveFor(hold, now));
}

/**
 * Ends the deployment, and gives the attempt with the end it came to. The same completion again
 * changes nothing; another one is a `Conflict`.
 */
export async function completeAttempt(
  ctx: RunnerContext,
  lease: LeaseClaim,
  completion: Completion,
): Promise<LeaseRow> {
  const reference = await requireLease(ctx, lease);
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await commit(ctx, {
    completed: completions.complete(db, reference, completion, now),
    finalized: finalize(ctx, { attempt: reference.id }, now),
    lease: store.findLease(db, reference),
  });
  const [hold] = results.lease;
  if (!hold) throw new NotFound("attempt");
  if (hold.completion === completions.toCompletionText(completion)) return hold;
  if (hold.completion !== null) {
    throw new AttemptConflict("The attempt was completed with another outcome.", "stop");
  }
  requireRunning(hold, now);
  throw new LeaseLost();
}

/**
 * The attempt that a call is about, for a runner that was given it. Without the right token, a call
 * costs one look, which tells another pool's attempt from this one's.
 */
export async function requireLease(
  ctx: RunnerContext,
  { attemptId, leaseToken }: LeaseClaim,
): Promise<Reference> {
  const reference = { id: attemptId, poolId: ctx.runner.poolId };
  const expected = await ctx.leaseToken(attemptId);
  if (leaseToken && (await equalInConstantTime(leaseToken, expected))) return reference;
  const [hold] = await store.findLease(ctx.db, reference);
  if (!hold) throw new NotFound("attempt");
  throw new LeaseLost();
}

/** The attempt as a call left it. Throws unless it is there, started, and its runner's still. */
export function requireRunning(hold: LeaseRow | undefined, now: number): LeaseRow {
  const held = requireLeaseHeld(hold, now);
  if (held.state === "running") return held;
  throw new AttemptConflict("Start the attempt first.", directiveFor(held, now));
}

/** The attempt, if there is one and it is its runner's still. */
export function requireLeaseHeld<Held extends Hold>(hold: Held | undefined, now: number): Held {
  if (!hold) throw new NotFound("attempt");
  if (!isLeaseHeld(hold, now)) throw new LeaseLost();
  return hold;
}
