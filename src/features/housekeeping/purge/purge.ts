import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { firstIdAt } from "../../../lib/ids.ts";
import { describeError } from "../../../lib/log.ts";
import { retentionMs } from "../../../lib/retention.ts";
import { deleteSome } from "./logged-rows.ts";
import { listOrganizations, purgeOrganization } from "./organization.ts";
import { PurgeRun, ROWS } from "./run.ts";
import * as store from "./store.ts";

const MARKS = 100;
const DAY_MS = 24 * 3_600_000;

/**
 * Deletes the data of deleted resources, and the data whose retention is over. Stops at its limits: the
 * next run starts again with the rows that are left, so that no progress is stored.
 */
export async function sweepPurges(ctx: SystemContext): Promise<void> {
  const run = new PurgeRun(ctx);
  // None can keep another from making progress.
  run.startPart();
  await purgeEach(ctx, run, await listOrganizations(ctx, MARKS), purgeOrganization);
  run.startPart();
  await purgeEach(ctx, run, await store.listOldestResources(ctx.db, MARKS), purgeResource);
  run.startPart();
  await deleteExpired(ctx, run);
}

async function purgeEach(
  ctx: SystemContext,
  run: PurgeRun,
  purges: readonly store.PurgeRow[],
  purgeOne: typeof purgeResource,
): Promise<void> {
  for (const purge of purges) {
    if (run.isPartOver()) return;
    try {
      await purgeOne(ctx, run, purge);
    } catch (error) {
      // The others do not wait for it. The next run tries again.
      ctx.log("error", "purge.failed", { purge: purge.id, ...describeError(error) });
    }
  }
}

async function purgeResource(
  ctx: SystemContext,
  run: PurgeRun,
  purge: store.PurgeRow,
): Promise<void> {
  const table = ctx.ownership.tombstonesOf(purge.resourceType);
  if (!table) throw new Error(`Nothing leaves tombstones of the type ${purge.resourceType}`);
  for (const rows of ctx.ownership.rowsOwnedBy(table)) {
    do {
      if (run.isPartOver()) return;
    } while (await deleteSome(ctx, run, rows, purge.resourceId));
  }
  await batch(ctx.db, store.deleteTombstone(ctx.db, table, purge));
}

async function deleteExpired(ctx: SystemContext, run: PurgeRun): Promise<void> {
  const { db, clock, ownership } = ctx;
  for (const { table, retention, childKeys } of ownership.retained()) {
    const cutoff = clock.now() - retentionMs(ctx.settings, retention.period);
    const isExpired = retention.isExpired?.(cutoff);
    const before = firstIdAt(cutoff);
    // What has just expired comes first: old rows that are kept must not hold it up.
    for (const start of [firstIdAt(cutoff - DAY_MS), ""]) {
      for (let after = start; ; ) {
        if (run.isPartOver()) return;
        const until = await store.findRangeEnd(db, table, { after, before, count: ROWS });
        if (until === undefined) break;
        const expired = { table, childKeys, after, until, isExpired };
        if (!(await run.deletes(store.deleteExpired(db, expired, ROWS)))) after = until;
      }
    }
  }
}
