import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const BREAKPOINT = "--> statement-breakpoint";

/** Wrangler's own table, so that `wrangler d1 migrations` sees the same state. */
export const CREATE_APPLIED = `create table if not exists d1_migrations (
  id integer primary key autoincrement,
  name text unique,
  applied_at timestamp default current_timestamp not null
)`;

export interface Migration {
  /** The file's name. */
  name: string;
  sql: string;
}

/** The migrations of a folder, oldest first. */
export function readMigrations(directory: string): Migration[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .map((name) => ({ name, sql: readFileSync(join(directory, name), "utf8") }));
}
