import { authorize } from "../../../actor.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { takeTurn } from "../../../turns.ts";
import { write } from "../../../writes/write.ts";
import { findIntegration, requireIntegration, requireReceiving } from "../integrations/index.ts";
import { READ_AT_ONCE, SINCE_TOO_EARLY } from "./model.ts";
import type { RecoveryReference, RecoveryRow } from "./store.ts";
import * as store from "./store.ts";

export const RUNNING = "A recovery of this integration is running. Wait until it has finished.";

export async function listRecoveries(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
  page: PageRequest,
): Promise<Page<RecoveryRow>> {
  const { db, actor } = ctx;
  const { integrations, found } = await batch(db, {
    integrations: findIntegration(db, actor, projectId, integrationId),
    found: store.listRecoveries(db, actor.organizationId, integrationId, page),
  });
  authorize(actor, "notification integration", integrations[0], "viewer");
  return toPage(page, found, (row) => row);
}

export async function getRecovery(
  ctx: ServiceContext,
  reference: RecoveryReference,
): Promise<RecoveryRow> {
  const [found] = await store.findRecovery(ctx.db, ctx.actor, reference);
  return authorize(ctx.actor, "recovery", found, "viewer");
}

/** @param period In milliseconds since the Unix epoch. Without an end, it ends now. */
export async function createRecovery(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
  period: { since: number; until: number | undefined },
): Promise<RecoveryRow> {
  const { organizationId } = await requireIntegration(ctx, projectId, integrationId, "owner");
  const now = ctx.clock.now();
  const { since } = period;
  const until = Math.min(period.until ?? now, now);
  requirePeriod(since, until, now);
  const recovery: RecoveryRow = {
    id: newId(ctx.clock),
    organizationId,
    projectId,
    integrationId,
    since,
    until,
    status: "running",
    position: null,
    recovered: 0,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
  };
  return write(ctx, {
    guarded: store.insertRecovery(ctx.db, recovery),
    value: recovery,
    reread: () => requireReceiving(ctx, projectId, integrationId),
    otherwise: () => new Conflict(RUNNING),
  });
}

function requirePeriod(since: number, until: number, now: number): void {
  if (since < now - LIMITS.recoveryMs.value) {
    throw new BadInput([{ path: "since", message: SINCE_TOO_EARLY }]);
  }
  if (since >= now) throw new BadInput([{ path: "since", message: "Send a time in the past." }]);
  if (since >= until) {
    throw new BadInput([{ path: "until", message: "Send a time after `since`." }]);
  }
}

/** Counts at least this much of the budget of a run, which bounds its batches. */
const LEAST_COST = 50;

export async function sweepRecoveries(ctx: SystemContext): Promise<void> {
  const startedAt = ctx.clock.now();
  const isInTime = () => ctx.clock.now() - startedAt < LIMITS.sweepMs.value;
  let budget = LIMITS.recoveredDeliveries.value;
  // One that has failed waits for the next run, and keeps the others' place.
  const failedIds: string[] = [];
  while (budget > 0 && isInTime()) {
    const limit = Math.ceil(budget / READ_AT_ONCE);
    const running = await store.listRunning(ctx.db, { limit, failedIds });
    if (running.length === 0) return;
    for (const recovery of running) {
      const cost = await takeTurn(ctx, recovery.organizationId, (own) => advance(own, recovery));
      if (cost === undefined) failedIds.push(recovery.id);
      budget -= cost ?? LEAST_COST;
    }
  }
}

/** Returns what it costs. Undefined: it has failed, which delays only this recovery. */
async function advance(ctx: SystemContext, recovery: RecoveryRow): Promise<number | undefined> {
  try {
    const failed = await store.listFailed(ctx.db, recovery);
    await batch(ctx.db, store.advance(ctx, recovery, failed));
    return Math.max(failed.length, LEAST_COST);
  } catch (error) {
    ctx.log("error", "recovery.failed", { recovery: recovery.id, ...describeError(error) });
    return undefined;
  }
}
