import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { FEATURES } from "../../src/features/index.ts";
import { CHANGED_IN_BACKGROUND } from "./written-rows.ts";

const TABLES = FEATURES.flatMap(({ tables = [] }) => tables)
  .map(({ table }) => getTableConfig(table))
  .flatMap(({ name, columns }) => {
    if (name === "organizations") return [{ name, owner: "id" }];
    const isOwned = columns.some((column) => column.name === "organization_id");
    return isOwned ? [{ name, owner: "organization_id" }] : [];
  });

/** Differ between equal histories of two organizations, or with the use of a key. */
const VOLATILE = new Set([
  "client_address",
  "email",
  "fingerprint",
  "last_four",
  "lastFour",
  "last_used_at",
  "request_id",
  "rowid",
  "secret_hash",
  "secretHash",
  "secrets",
]);
const SEALED = /^test\.v\d/;
const ID = /(?<![0-9A-Za-z_])[1-9A-HJ-NP-Za-km-z]{22}(?![0-9A-Za-z_])/g;

/** Replaces IDs by their numbers in the order of their first appearance. */
export class CanonicalIds {
  readonly #numbers = new Map<string, string>();

  replaceIn(text: string): string {
    return text.replaceAll(ID, (id) => {
      const known = this.#numbers.get(id);
      if (known !== undefined) return known;
      const number = `#${this.#numbers.size + 1}`;
      this.#numbers.set(id, number);
      return number;
    });
  }
}

/**
 * All rows of an organization, in the order of their insertion: equal for two organizations with the
 * same history. Lines of text, so that a difference is easy to read.
 */
export async function canonicalState(organizationId: string): Promise<string[]> {
  const results = await env.DB.batch<Record<string, unknown>>(
    TABLES.map(({ name, owner }) =>
      env.DB.prepare(`select rowid, * from ${name} where ${owner} = ? order by rowid`).bind(
        organizationId,
      ),
    ),
  );
  const ids = new CanonicalIds();
  return TABLES.flatMap(({ name }, at) =>
    // A consumer of the queue may send a delivery meanwhile.
    name === "delivery_attempts"
      ? []
      : (results[at]?.results ?? []).map((row) =>
          ids.replaceIn(`${name} ${stableText(row, CHANGED_IN_BACKGROUND[name])}`),
        ),
  );
}

/** The number of rows of each table, in one statement: each of a batch would take longer than its count. */
export async function countRows(organizationId: string): Promise<Record<string, number>> {
  const counts = TABLES.map(
    ({ name, owner }) => `(select count(*) from ${name} where ${owner} = ?1) as ${name}`,
  );
  const found = await env.DB.prepare(`select ${counts}`)
    .bind(organizationId)
    .first<Record<string, number>>();
  if (!found) throw new Error("The counts have no row");
  return found;
}

function stableText(row: Record<string, unknown>, changed: readonly string[] = []): string {
  return JSON.stringify(row, (name, value: unknown) => {
    if (VOLATILE.has(name) || changed.includes(name)) return undefined;
    // Of an idempotency record: JSON.
    if (name === "result" && typeof value === "string") return JSON.parse(value);
    return typeof value === "string" && SEALED.test(value) ? "sealed" : value;
  });
}
