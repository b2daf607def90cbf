import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../packages/server/src/database/database-path.ts";
import { readConfiguration } from "./configuration.ts";
import { applyMigrations, digestMigrations } from "./migrations.ts";
import { STATE } from "./wrangler.ts";

const BINDING = "DB";

/** Beside the data, so that deleting the data deletes it. */
export const STAMP = join(STATE, "longshore.json");

/** What the last preparation found, so that the next one need not open the database. */
export interface Stamp {
  /** Identifies the migrations that were applied. */
  migrations: string;
  hasKey: boolean;
}

/**
 * Migrates the local database, unless the stamp says that it is up to date. Returns whether it has an
 * API key; the stamp is enough for that only if `hasKey` is true, because keys are created later.
 */
export async function prepareDatabase({ needsKeyState }: { needsKeyState: boolean }): Promise<{
  hasKey: boolean;
}> {
  const migrations = digestMigrations();
  // The stamp of a database that somebody has deleted says nothing.
  const stamp = (await hasDatabase()) ? readStamp() : undefined;
  if (stamp?.migrations === migrations && (stamp.hasKey || !needsKeyState)) return stamp;
  // Loading Miniflare takes most of a second.
  const { openLocalDatabase } = await import("./database.ts");
  const { d1, close } = await openLocalDatabase();
  try {
    await applyMigrations(d1);
    const hasKey = (await d1.prepare("select only from bootstraps").first()) !== null;
    mkdirSync(STATE, { recursive: true });
    writeFileSync(STAMP, JSON.stringify({ migrations, hasKey } satisfies Stamp));
    return { hasKey };
  } finally {
    await close();
  }
}

async function hasDatabase(): Promise<boolean> {
  const { d1_databases } = await readConfiguration();
  const database = d1_databases.find(({ binding }) => binding === BINDING);
  return existsSync(databasePath(STATE, database?.database_id ?? BINDING));
}

function readStamp(): Stamp | undefined {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return undefined;
  }
}
