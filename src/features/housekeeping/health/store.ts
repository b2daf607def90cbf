import { sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";

/** The names of the tables that exist. */
export async function listTables(db: Database): Promise<ReadonlySet<string>> {
  const query = sql`select name from sqlite_master where type = 'table'`;
  const rows = await db.all<{ name: string }>(query);
  return new Set(rows.map(({ name }) => name));
}
