import { env } from "cloudflare:workers";
import { backup } from "../../scripts/backup/backup.ts";
import { restore } from "../../scripts/backup/restore.ts";
import { BACKUP_TABLES } from "../../scripts/backup/tables.ts";
import { systemClock } from "../../src/lib/clock.ts";

/** Copies all rows. Returns a function that puts them back, as D1's Time Travel would. */
export async function rememberDatabase(): Promise<() => Promise<void>> {
  const options = { organizationId: undefined, release: "test", clock: systemClock };
  const lines = await collect(backup(env.DB, options));
  return async () => {
    await deleteAllRows(env.DB);
    const { skippedRows } = await restore(env.DB, () => iterate(lines));
    if (skippedRows.length > 0) throw new Error(`Rows were not put back: ${skippedRows.join()}`);
  };
}

export async function deleteAllRows(d1: D1Database): Promise<void> {
  // The counters of the organizations are in no backup.
  const names = [...BACKUP_TABLES.keys(), "usage"].toSorted((a, b) => rankOf(b) - rankOf(a));
  await d1.batch(names.map((name) => d1.prepare(`delete from ${name}`)));
}

/** Children have a higher rank than their parents. */
function rankOf(name: string): number {
  const rank = [...BACKUP_TABLES.keys()].indexOf(name);
  return rank < 0 ? rankOf("memberships") : rank;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export async function* iterate<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
