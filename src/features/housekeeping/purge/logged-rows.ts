import type { SystemContext } from "../../../context.ts";
import type { OwnedRows } from "../../../db/ownership.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { type PurgeRun, ROWS } from "./run.ts";
import * as store from "./store.ts";

/**
 * Deletes some rows of an owner, those with a log first: the log goes before its row, because nothing
 * else knows of it. Whether there may be more.
 * @param owner Its ID, or a select of several IDs.
 */
export async function deleteSome(
  ctx: SystemContext,
  run: PurgeRun,
  rows: OwnedRows,
  owner: Parameters<typeof store.deleteOwned>[2],
): Promise<boolean> {
  const { db } = ctx;
  const condition = rows.hasLog?.(ctx.clock.now());
  if (condition) {
    const limit = LIMITS.purgeLogs.value;
    const ids = await store.listOwned(db, rows, { owner, condition, limit });
    if (ids.length > 0) {
      await ctx.logs.erase(ids);
      return run.deletes(store.deleteRows(db, rows, ids, ROWS));
    }
  }
  return run.deletes(store.deleteOwned(db, rows, owner, ROWS));
}
