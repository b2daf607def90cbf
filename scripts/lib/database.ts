import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  COMPATIBILITY_DATE,
  DatabaseWorker,
} from "../../packages/server/src/database/database-worker.ts";
import { toDatabase } from "../../packages/server/src/database/unprepared-database.ts";
import { CommandError } from "./command.ts";
import { readConfiguration } from "./configuration.ts";
import { runWrangler, STATE } from "./wrangler.ts";

const BINDING = "DB";

export interface OpenDatabase {
  d1: D1Database;
  close(): Promise<void>;
}

export function openDatabase({ remote }: { remote: boolean }): Promise<OpenDatabase> {
  return remote ? openRemoteDatabase() : openLocalDatabase();
}

/** Opens the database of `wrangler dev`, which may be running. `state` is the folder of its data. */
export async function openLocalDatabase(state = STATE): Promise<OpenDatabase> {
  const { convertV4MiniflareOptions, Miniflare } = await import("miniflare");
  const worker = new DatabaseWorker();
  const databases = { [BINDING]: (await describeDatabase()).database_id ?? BINDING };
  const options = convertV4MiniflareOptions(worker.options(databases));
  const miniflare = new Miniflare({ ...options, resourcePersistencePath: state });
  return { d1: await worker.connect(miniflare), close: () => miniflare.dispose() };
}

/** Opens the database of the deployment. */
export async function openRemoteDatabase(): Promise<OpenDatabase> {
  const directory = mkdtempSync(join(tmpdir(), "longshore-"));
  const configPath = join(directory, "wrangler.json");
  const configuration = {
    name: "longshore",
    compatibility_date: COMPATIBILITY_DATE,
    d1_databases: [
      { ...(await describeDatabase()), database_id: await findDatabaseId(), remote: true },
    ],
  };
  writeFileSync(configPath, JSON.stringify(configuration));
  const { getPlatformProxy } = await import("wrangler");
  const { env, dispose } = await getPlatformProxy<{ DB: D1Database }>({ configPath });
  const close = async () => {
    await dispose();
    rmSync(directory, { recursive: true });
  };
  return { d1: withFreshConnections(env.DB), close };
}

/**
 * Lets this process see which connections the runtime has closed while statements were prepared, which blocks it. Only
 * after the second turn has all that arrived before the first been read.
 */
function withFreshConnections(d1: D1Database): D1Database {
  return toDatabase(async (method, statements) => {
    const prepared = statements.map(({ sql, values }) => d1.prepare(sql).bind(...values));
    await nextTurn();
    await nextTurn();
    if (method === "batch") return d1.batch(prepared);
    return prepared[0]?.[method]();
  });
}

/** wrangler.toml omits the ID, which a remote binding needs. */
async function findDatabaseId(): Promise<string> {
  const { database_name = "", database_id } = await describeDatabase();
  if (database_id) return database_id;
  const { code, stdout, stderr } = await runWrangler(["d1", "info", database_name, "--json"]);
  if (code !== 0) throw new CommandError(stdout + stderr);
  return (JSON.parse(stdout) as { uuid: string }).uuid;
}

async function describeDatabase() {
  const { d1_databases } = await readConfiguration();
  const database = d1_databases.find(({ binding }) => binding === BINDING);
  if (!database)
    throw new CommandError(`Add a database for the binding ${BINDING} to wrangler.toml.`);
  return database;
}
