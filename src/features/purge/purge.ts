import type { SystemContext } from "../../context.ts";
import { runBatch, type Statements } from "../../db/batch.ts";
import { firstIdAt } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { describeError } from "../../lib/log.ts";
import * as store from "./store.ts";

const ROWS = LIMITS.purgeRows.value;
const MARKS = 100;
const DAY_MS = 24 * 3_600_000;

/** Leaves the database to requests for most of the time: D1 runs one statement at a time. */
const PAUSES_PER_BATCH = 4;

/**
 * Deletes the data of deleted records, and the data whose retention is over. Stops at its limits: the
 * next run starts again with the rows that are left, so that no progress is stored.
 */
export async function sweepPurges(ctx: SystemContext): Promise<void> {
  // Neither can keep the other from making progress.
  await purgeRecords(ctx, new PurgeRun(ctx));
  await deleteExpired(ctx, new PurgeRun(ctx));
}

async function purgeRecords(ctx: SystemContext, run: PurgeRun): Promise<void> {
  for (const purge of await store.listOldest(ctx.db, MARKS)) {
    if (run.isOver()) return;
    try {
      await purgeRecord(ctx, run, purge);
    } catch (error) {
      // The others do not wait for it. The next run tries again.
      ctx.log("error", "purge.failed", { purge: purge.id, ...describeError(error) });
    }
  }
}

async function purgeRecord(
  ctx: SystemContext,
  run: PurgeRun,
  purge: store.PurgeRow,
): Promise<void> {
  const table = ctx.ownership.tombstonesOf(purge.recordType);
  if (!table) throw new Error(`Nothing leaves tombstones of the type ${purge.recordType}`);
  for (const rows of ctx.ownership.rowsOwnedBy(table)) {
    do {
      if (run.isOver()) return;
    } while (await run.deletes(store.deleteOwned(ctx.db, rows, purge.recordId, ROWS)));
  }
  await runBatch(ctx.db, store.deleteTombstone(ctx.db, table, purge));
}

async function deleteExpired(ctx: SystemContext, run: PurgeRun): Promise<void> {
  const { db, clock, ownership } = ctx;
  for (const { table, retention, childKeys } of ownership.retained()) {
    const cutoff = clock.now() - ctx.retentionMs(retention.period);
    const isExpired = retention.isExpired?.(cutoff);
    const before = firstIdAt(cutoff);
    // What has just expired comes first: old rows that are kept must not hold it up.
    for (const start of [firstIdAt(cutoff - DAY_MS), ""]) {
      for (let after = start; ; ) {
        if (run.isOver()) return;
        const until = await store.findRangeEnd(db, table, { after, before, count: ROWS });
        if (until === undefined) break;
        const expired = { table, childKeys, after, until, isExpired };
        if (!(await run.deletes(store.deleteExpired(db, expired, ROWS)))) after = until;
      }
    }
  }
}

/** Half of the limits of a run. */
class PurgeRun {
  readonly #ctx: SystemContext;
  readonly #endsAt: number;
  #batches = 0;

  constructor(ctx: SystemContext) {
    this.#ctx = ctx;
    this.#endsAt = ctx.clock.now() + LIMITS.purgeMs.value / 2;
  }

  isOver(): boolean {
    return this.#batches >= LIMITS.purgeBatches.value / 2 || this.#ctx.clock.now() >= this.#endsAt;
  }

  /** Whether the batch has deleted a row. */
  async deletes(statements: Statements): Promise<boolean> {
    const { db, clock } = this.#ctx;
    this.#batches += 1;
    const startedAt = clock.now();
    const deleted = countChanges(await runBatch(db, statements));
    if (deleted === 0) return false;
    await pause(PAUSES_PER_BATCH * (clock.now() - startedAt));
    return true;
  }
}

/** Of the results of a batch of deletions. */
function countChanges(results: object): number {
  if ("meta" in results) return (results as D1Result).meta.changes;
  return Object.values(results).reduce((sum: number, each: object) => sum + countChanges(each), 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
