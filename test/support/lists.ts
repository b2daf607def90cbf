import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Client, Parsed } from "./client.ts";
import { type Exchange, Instrumented } from "./instruments.ts";
import { queryPlans } from "./query-plans.ts";
import type { World } from "./world.ts";

export interface Row {
  id: string;
  createdAt: number;
}

/** Inserts projects directly, so that a test can choose equal creation times. */
export async function insertProjects(
  world: Pick<World, "id" | "membershipId">,
  rows: readonly Row[],
): Promise<void> {
  const statements = rows.flatMap(({ id, createdAt }) => [
    env.DB.prepare(
      `insert into projects
        (id, organization_id, name, default_environment_id, connection_status, created_at, updated_at)
        values (?1, ?2, 'p', ?1, 'disconnected', ?3, ?3)`,
    ).bind(id, world.id, createdAt),
    env.DB.prepare("insert into project_members values (?1, ?2, ?3, 'owner', ?4, ?4, 1)").bind(
      id,
      world.membershipId,
      world.id,
      createdAt,
    ),
  ]);
  for (let at = 0; at < statements.length; at += 500) {
    await env.DB.batch(statements.slice(at, at + 500));
  }
}

/**
 * Scans of `item` are of rows that a subquery found by an index. Scans of numbered subqueries, and of what
 * cuts a page, are of at most one row more than the page's limit.
 */
const UNINDEXED =
  /^SCAN (?!(item|merged|list|fitting|CONSTANT ROW|\(subquery-\d+\))$|(wanted|item) VIRTUAL|.*\bUSING\b.*INDEX)/;
const UNINDEXED_OR_SORTED = new RegExp(`${UNINDEXED.source}|TEMP B-TREE`);

/**
 * Expects every statement to use indexes, to sort nothing, and to read few rows. A statement that
 * merges the lists of `merged` projects may also read the first row of each, with its environment,
 * and sort its page.
 */
export async function expectIndexed(
  exchanges: readonly Exchange[],
  returned: number,
  merged = 0,
): Promise<void> {
  const statements = exchanges.flatMap((exchange) => exchange.statements);
  if (statements.length === 0) return;
  const plans = await queryPlans(statements);
  const repeated = await env.DB.batch(
    statements.map(({ sql, params }) => env.DB.prepare(sql).bind(...params)),
  );
  for (const [at, { sql }] of statements.entries()) {
    const isCut = sql.includes("page.found");
    for (const detail of plans[at] ?? []) {
      expect(detail, sql).not.toMatch(merged > 0 ? UNINDEXED : UNINDEXED_OR_SORTED);
    }
    const meta = repeated[at]?.meta;
    // Rows read for each returned row: the row, up to four joined rows, five more for a merge, and
    // three more where the page has a maximum size. One extra row shows whether a next page exists.
    const each = (merged > 0 ? 10 : 5) + (isCut ? 3 : 0);
    expect(meta?.rows_read, sql).toBeLessThanOrEqual(each * (returned + 1) + 4 * merged + 16);
  }
}

/**
 * Reads the first three pages, which must be full, and expects each to be indexed. Together they have
 * the rows of one page of three times the limit, in the same order: equal times cost no row.
 */
export async function expectIndexedPages(
  client: Client,
  path: string,
  { sort_by, limit }: { sort_by: string; limit: number },
): Promise<void> {
  const worker = new Instrumented();
  const caller = client.via(worker.fetch);
  const list = `${path}${path.includes("?") ? "&" : "?"}sort_by=${sort_by}`;
  const listed: string[] = [];
  for (let page = 0, after = ""; page < 3; page += 1) {
    worker.forget();
    const { body } = await caller.get(`${list}&limit=${limit}${after}`);
    expect(body.data).toHaveLength(limit);
    listed.push(...body.data.map(idOf));
    after = `&after=${body.next_page}`;
    await expectIndexed(worker.database, limit);
  }
  const whole = await caller.get(`${list}&limit=${3 * limit}`);
  expect(listed).toEqual(whole.body.data.map(idOf));
}

/** Members and alarms have no ID of their own. */
const idOf = ({ id, membership_id, name }: Parsed): string => id ?? membership_id ?? name;
