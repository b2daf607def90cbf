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

/** Whether it has deleted any. */
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
  return deleteListed(ctx, run, rows, limitLogs(found));
}

/** The first of these rows, with as many logs as a batch may delete. */
export function limitLogs<Row extends { hasLog: boolean }>(rows: readonly Row[]): Row[] {
  const beyond = rows.filter(({ hasLog }) => hasLog)[LIMITS.purgeLogs.value];
  return rows.slice(0, beyond && rows.indexOf(beyond));
}

/** The log goes before its row, because nothing else knows of it. Whether it has deleted any row. */
export async function deleteListed(
  ctx: SystemContext,
  run: PurgeRun,
  rows: store.DeletedRows,
  listed: readonly { id: string; hasLog: boolean }[],
): Promise<boolean> {
  if (listed.length === 0) return false;
  const logged = listed.filter(({ hasLog }) => hasLog).map(({ id }) => id);
  if (logged.length > 0) await ctx.logs.erase(logged);
  const ids = listed.map(({ id }) => id);
  return run.deletes(store.deleteRows(ctx.db, rows, ids, ROWS));
}
