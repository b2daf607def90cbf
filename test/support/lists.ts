import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Exchange } from "./instruments.ts";
import type { World } from "./world.ts";

export interface Row {
  id: string;
  createdAt: number;
}

/** Projects made directly, with creation times that often coincide. */
export async function insertProjects(world: World, rows: readonly Row[]): Promise<void> {
  const statements = rows.flatMap(({ id, createdAt }) => [
    env.DB.prepare(
      "insert into projects values (?1, ?2, 'p', null, null, null, ?1, 'disconnected', ?3, ?3)",
    ).bind(id, world.id, createdAt),
    env.DB.prepare("insert into project_members values (?1, ?2, ?3, 'owner', ?4, ?4)").bind(
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
 * An item is a row that a subquery has found by an index: a stack of one deployment. A record, and
 * what is numbered, is one of those that a page may hold: at most one more than its limit.
 */
const UNINDEXED =
  /^SCAN (?!(item|merged|record|\(subquery-\d+\))$|wanted VIRTUAL|.*\bUSING\b.*INDEX)/;
const UNINDEXED_OR_SORTED = new RegExp(`${UNINDEXED.source}|TEMP B-TREE`);

/**
 * Every statement finds its rows by an index and needs no sorting, and few rows are read. One that
 * merges the lists of `merged` projects also reads the first row of each, and sorts its page.
 */
export async function expectIndexed(
  exchanges: readonly Exchange[],
  returned: number,
  merged = 0,
): Promise<void> {
  for (const { sql, params } of exchanges.flatMap(({ statements }) => statements)) {
    const explained = await env.DB.prepare(`explain query plan ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    // A page that is cut at a size sorts its own records, which the count of rows below bounds.
    const isCut = sql.includes("page.total");
    for (const { detail } of explained.results) {
      expect(detail, sql).not.toMatch(merged || isCut ? UNINDEXED : UNINDEXED_OR_SORTED);
    }
    const { meta } = await env.DB.prepare(sql)
      .bind(...params)
      .all();
    // A row of a member is read with its membership and account, one of a deployment with its
    // stacks, the reader's role or the stack that it is looked for by; one that is merged, on its
    // way through the queue, too; and one of a page that is cut at a size is read for that size
    // before it is read in full. One more row tells of a next page.
    const each = (merged > 0 ? 9 : 5) + (isCut ? 4 : 0);
    expect(meta.rows_read, sql).toBeLessThanOrEqual(each * (returned + 1) + 3 * merged + 16);
  }
}
