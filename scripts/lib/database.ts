import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError } from "./command.ts";
import { readConfiguration } from "./configuration.ts";
import { runWrangler, STATE } from "./wrangler.ts";

const BINDING = "DB";
const COMPATIBILITY_DATE = "2026-10-01";

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
  const options = convertV4MiniflareOptions({
    compatibilityDate: COMPATIBILITY_DATE,
    modules: true,
    script: "export default {};",
    d1Databases: { [BINDING]: (await describeDatabase()).database_id ?? BINDING },
  });
  const miniflare = new Miniflare({ ...options, resourcePersistencePath: state });
  const d1 = (await miniflare.getD1Database(BINDING)) as unknown as D1Database;
  return { d1, close: () => miniflare.dispose() };
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
  return { d1: env.DB, close };
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
