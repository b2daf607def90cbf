import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Migration } from "../../packages/server/src/database/migrations.ts";
import { readMigrations } from "../lib/migrations.ts";
import { readSchema, type Schema } from "../lib/schema.ts";
import { ROOT } from "../lib/wrangler.ts";
import type { Adoption } from "./adopt.ts";

const DIRECTORY = join(ROOT, "scripts", "adopt-baseline", "migrations");

export function readAdoption(): Adoption {
  const [baseline, ...later] = readMigrations();
  if (!baseline) throw new Error("migrations/ has no baseline");
  return { earlier: readMigrations(DIRECTORY), baseline, later, schemaAfter };
}

async function schemaAfter(migrations: readonly Migration[]): Promise<Schema> {
  const database = new DatabaseSync(":memory:");
  try {
    for (const { sql } of migrations) database.exec(sql);
    return await readSchema(async (sql) => database.prepare(sql).all());
  } finally {
    database.close();
  }
}
