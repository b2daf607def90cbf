import { env } from "cloudflare:workers";
import { getTableColumns, getTableName } from "drizzle-orm";
import { rowBytes } from "../../src/db/row-bytes.ts";
import { FEATURES } from "../../src/features/index.ts";

const TENANT_TABLES = FEATURES.flatMap(({ tables = [] }) =>
  tables.map(({ table }) => table),
).filter((table) => "organizationId" in getTableColumns(table));

/** Of every column of every row of an organization. */
export async function storedBytes(organizationId: string): Promise<number> {
  const sums = TENANT_TABLES.map((table) => {
    const name = getTableName(table);
    return env.DB.prepare(
      `select coalesce(sum(${rowBytes(table, name)}), 0) as bytes from ${name} where organization_id = ?`,
    ).bind(organizationId);
  });
  const results = await env.DB.batch<{ bytes: number }>(sums);
  return results.reduce((sum, { results: [row] }) => sum + Number(row?.bytes), 0);
}
