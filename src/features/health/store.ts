import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";

export function ping(db: Database) {
  return db.get(sql`select 1`);
}
