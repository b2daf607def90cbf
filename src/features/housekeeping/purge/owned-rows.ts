import type { SystemContext } from "../../../context.ts";
import type { OwnedRows } from "../../../db/ownership.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { type PurgeRun, ROWS, type Steps } from "./run.ts";
import * as store from "./store.ts";

/** Deletes all rows of their owners. */
export async function* purgeOwned(
  ctx: SystemContext,
  run: PurgeRun,
  owned: readonly OwnedRows[],
  owners: store.Owners,
): Steps {
  for (const rows of await store.findWithRows(ctx.db, owned, owners)) {
    while (await deleteSome(ctx, run, rows, owners)) yield;
  }
}

/**
 * Deletes some of the rows, those with a log first: the log goes before its row, because nothing
 * else knows of it. Whether it has deleted any.
 */
async function deleteSome(
  ctx: SystemContext,
  run: PurgeRun,
  rows: OwnedRows,
  owners: store.Owners,
): Promise<boolean> {
  const { db } = ctx;
  const hasLog = rows.hasLog?.(ctx.clock.now());
  if (!hasLog) return run.deletes(store.deleteOwned(db, rows, owners, ROWS));
  const found = await store.listOwned(db, rows, { owners, hasLog, limit: ROWS });
  if (found.length === 0) return false;
  const logged = found.filter((row) => row.hasLog).slice(0, LIMITS.purgeLogs.value);
  const ids = (logged.length > 0 ? logged : found).map(({ id }) => id);
  if (logged.length > 0) await ctx.logs.erase(ids);
  return run.deletes(store.deleteRows(db, rows, ids, ROWS));
}
