import type { RunnerContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { auditDelivery } from "../../housekeeping/audit/index.ts";
import { openValues } from "../../projects/variables/index.ts";
import { type Directive, directiveFor } from "./directive.ts";
import { AttemptConflict, LEASE_STALE } from "./errors.ts";
import { authenticateLease, type LeaseCredentials, requireRunning } from "./lease.ts";
import * as store from "./store.ts";

/**
 * Needs a fresh lease. Writes an audit entry in the batch that reads the values, so that the record
 * is committed before they can leave.
 */
export async function deliverVariables(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
): Promise<{ delivery: store.Delivery; directive: Directive }> {
  const key = await authenticateLease(ctx, credentials);
  const { db, clock } = ctx;
  const cipher = await ctx.cipher();
  const now = clock.now();
  const isFresh = store.whereLeaseIsFresh(key, now);
  const results = await batch(db, {
    attempt: store.findAttempt(db, key),
    sealed: store.listSealedVariables(db, key, isFresh),
    stacks: store.listComponentsOfStacks(db, key, isFresh),
    audit: auditDelivery(ctx, key.id, isFresh),
  });
  const attempt = requireRunning(results.attempt[0], now);
  const directive = directiveFor(attempt, now);
  if (now >= (attempt.leaseUntil ?? 0)) {
    throw new AttemptConflict(LEASE_STALE, directive);
  }
  const variables = await openValues(cipher, results.sealed);
  return { delivery: { variables, stacks: results.stacks }, directive };
}
