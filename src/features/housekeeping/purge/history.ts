import type { SystemContext } from "../../../context.ts";
import type { RolledTable } from "../../../db/ownership.ts";
import { databaseSize } from "../../../lib/database-size.ts";
import { firstIdAt, timeOf } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import * as store from "./history-store.ts";
import { deleteListed, limitLogs } from "./owned-rows.ts";
import { logFailure, type PurgeRun, ROWS, type Steps } from "./run.ts";

const MINUTE_MS = 60_000;
/** Parts of the age of the oldest row: the rows of all tables in the oldest part go before younger ones. */
const AGES = 1_000;

/** Of organizations whose history is beyond their share; of an audit log, in a database that is almost full. */
export async function listRolls(
  ctx: SystemContext,
  run: PurgeRun,
  limit: number,
): Promise<Steps[]> {
  const minute = Math.floor(ctx.clock.now() / MINUTE_MS);
  const ids = await store.listBeyondShare(ctx.db, { minute, limit });
  return [
    logFailure(ctx, { part: "audit_log" }, rollAuditLog(ctx, run)),
    ...ids.map((id) => logFailure(ctx, { organizationId: id }, rollHistory(ctx, run, id))),
  ];
}

interface Position {
  rolled: RolledTable;
  /** The ID of the last row that has gone, or stays until the next run. */
  after: string;
}

/** Oldest first over all tables, until the rest fits. */
async function* rollHistory(ctx: SystemContext, run: PurgeRun, organizationId: string): Steps {
  const { db, ownership } = ctx;
  const now = ctx.clock.now();
  const positions = ownership.rolled().map((rolled): Position => ({ rolled, after: "" }));
  for (;;) {
    const excess = await store.findExcess(db, organizationId);
    if (excess <= 0) return;
    const oldest = findFirst(await store.findOldest(db, organizationId, positions), positions, now);
    if (!oldest) return;
    const { position, until } = oldest;
    const { rolled, after } = position;
    const rows = await store.listOldest(db, rolled, { organizationId, after, until, now }, ROWS);
    const going = limitLogs(takeUntil(rows, excess));
    await deleteListed(ctx, run, { ...rolled, condition: store.isRollable(rolled) }, going);
    position.after = (going.at(-1) ?? rows.at(-1))?.id ?? until;
    // Counts also if it has deleted nothing: it has read the rows.
    yield;
  }
}

/** The first table with a row in the oldest part of the age, and the ID at the end of that part. */
function findFirst(
  ids: readonly (string | undefined)[],
  positions: readonly Position[],
  now: number,
): { position: Position; until: string } | undefined {
  const oldest = ids.flatMap((id) => id ?? []).toSorted()[0];
  if (oldest === undefined) return undefined;
  const time = timeOf(oldest);
  const until = firstIdAt(time + Math.ceil((now - time) / AGES) + 1);
  const position = positions.find((_, at) => (ids[at] ?? until) < until);
  return position && { position, until };
}

type Row = Awaited<ReturnType<typeof store.listOldest>>[number];

/** The first rows that may go with these bytes, at least one, with as many children as a batch deletes. */
function takeUntil(rows: readonly Row[], bytes: number): Row[] {
  const taken: Row[] = [];
  const sum = { bytes: 0, children: 0 };
  for (const row of rows.filter(({ mayGo }) => mayGo)) {
    sum.children += row.children;
    if (sum.bytes >= bytes || (taken.length > 0 && sum.children > ROWS)) break;
    sum.bytes += row.bytes;
    taken.push(row);
  }
  return taken;
}

/**
 * Only in a database that is almost full: of the organization with the largest audit log, the oldest entries.
 * No share keeps its entries short, because they tell who did what.
 */
async function* rollAuditLog({ db, log }: SystemContext, run: PurgeRun): Steps {
  const isCritical = () => (databaseSize() ?? 0) >= LIMITS.databaseCriticalBytes.value;
  const organizationId = isCritical() ? await store.findLargestAuditLog(db) : undefined;
  if (organizationId === undefined) return;
  log("error", "purge.audit_log", { organizationId, size: databaseSize() });
  while (isCritical() && (await run.deletes(store.deleteOldestEntries(db, organizationId, ROWS)))) {
    yield;
  }
}
