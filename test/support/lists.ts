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

/** Every statement finds its rows by an index and needs no sorting, and few rows are read. */
export async function expectIndexed(
  exchanges: readonly Exchange[],
  returned: number,
): Promise<void> {
  for (const { sql, params } of exchanges.flatMap(({ statements }) => statements)) {
    const explained = await env.DB.prepare(`explain query plan ${sql}`)
      .bind(...params)
      .all<{ detail: string }>();
    for (const { detail } of explained.results) {
      // An item is a row that a subquery has found by an index: a stack of one deployment.
      expect(detail, sql).not.toMatch(/^SCAN (?!item$|.*\bUSING\b.*INDEX)|TEMP B-TREE/);
    }
    const { meta } = await env.DB.prepare(sql)
      .bind(...params)
      .all();
    // A row of a member is read with its membership and account, one of a deployment with its stack
    // and the reader's role; one more row tells of a next page.
    expect(meta.rows_read, sql).toBeLessThanOrEqual(4 * (returned + 1) + 8);
  }
}
