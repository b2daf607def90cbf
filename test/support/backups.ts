import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { backup } from "../../packages/server/src/backup/backup.ts";
import type { RowLine } from "../../packages/server/src/backup/file.ts";
import { type RestoreReport, restore } from "../../packages/server/src/backup/restore.ts";
import { BACKUP_TABLES } from "../../packages/server/src/backup/tables.ts";
import { countedTables, renderCount } from "../../scripts/lib/usage-triggers.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../src/db/tombstone.ts";
import { systemClock } from "../../src/lib/clock.ts";

export function backUp(organizationId?: string): Promise<string[]> {
  const options = { organizationId, release: "1.2.3", clock: systemClock };
  return collect(backup(env.DB, options));
}

export function restoreLines(
  lines: readonly string[],
  organizationId?: string,
  database: D1Database = env.RESTORED,
): Promise<RestoreReport> {
  return restore(database, () => iterate(lines), { organizationId });
}

export function rowsIn(lines: readonly string[], table: string): RowLine["row"][] {
  const rows = lines.slice(1, -1).map((line) => JSON.parse(line) as RowLine);
  return rows.filter((each) => each.table === table).map(({ row }) => row);
}

export async function expectNoOrphans(): Promise<void> {
  const { results } = await env.RESTORED.prepare("pragma foreign_key_check").all();
  expect(results).toEqual([]);
  const dangling = await env.RESTORED.prepare(
    `select 'default environment' as what, id from projects where not exists (
        select 1 from environments where id = default_environment_id and project_id = projects.id)
      union all select 'scope', id from variables
        where scope_id <> coalesce(component_id, environment_id)
      union all select 'last started', id from environments where started_number > 0 and not exists (
        select 1 from deployments where environment_id = environments.id
          and number = started_number)`,
  ).all();
  expect(dangling.results).toEqual([]);
}

/** The counters are those of the rows. */
export async function expectExactUsage(): Promise<void> {
  // What counts tombstones is not read.
  const select = `select * from usage where records > 0
    and organization_id <> '${TOMBSTONE_ORGANIZATION_ID}' order by organization_id, kind`;
  const { results: counted } = await env.RESTORED.prepare(select).all();
  const kinds = [...new Set(countedTables().map(({ kind }) => kind))];
  expect(kinds.length).toBeGreaterThan(10);
  await env.RESTORED.batch(
    kinds.flatMap(renderCount).map((statement) => env.RESTORED.prepare(statement)),
  );
  const { results: recounted } = await env.RESTORED.prepare(select).all();
  expect(counted).toEqual(recounted);
  expect(counted.length).toBeGreaterThan(0);
}

export async function countOf(
  table: string,
  organizationId?: string,
  database = env.DB,
): Promise<number> {
  const where = organizationId === undefined ? "" : "where organization_id = ?";
  const statement = database.prepare(`select count(*) as n from ${table} ${where}`);
  const bound = organizationId === undefined ? statement : statement.bind(organizationId);
  return (await bound.first<number>("n")) ?? 0;
}

/** Copies all rows. Returns a function that puts them back, as D1's Time Travel would. */
export async function rememberDatabase(): Promise<() => Promise<void>> {
  const lines = await backUp();
  const others = await Promise.all(OF_SESSIONS.map(readRows));
  return async () => {
    await deleteAllRows(env.DB);
    const { skippedRows } = await restoreLines(lines, undefined, env.DB);
    if (skippedRows.length > 0) throw new Error(`Rows were not put back: ${skippedRows.join()}`);
    await Promise.all(others.map((rows, at) => insertRows(String(OF_SESSIONS[at]), rows)));
  };
}

/** In no backup. */
const OF_SESSIONS = ["sessions", "sign_in_links"];

async function readRows(table: string): Promise<Record<string, unknown>[]> {
  return (await env.DB.prepare(`select * from ${table}`).all()).results;
}

async function insertRows(table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  const inserts = rows.map((row) => {
    const columns = Object.keys(row);
    const sql = `insert into ${table} (${columns.join()}) values (${columns.map(() => "?").join()})`;
    return env.DB.prepare(sql).bind(...Object.values(row));
  });
  if (inserts.length > 0) await env.DB.batch(inserts);
}

/** Of the organizations. They are in no backup. */
const COUNTERS = ["usage", "history_usage", "audit_days", "idempotency_totals"];

export async function deleteAllRows(d1: D1Database): Promise<void> {
  const names = [...BACKUP_TABLES.keys(), ...COUNTERS].toSorted((a, b) => rankOf(b) - rankOf(a));
  await d1.batch([...OF_SESSIONS, ...names].map((name) => d1.prepare(`delete from ${name}`)));
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
