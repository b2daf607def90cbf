import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";
import { CommandError } from "./command.ts";
import { readConfiguration } from "./configuration.ts";
import { ROOT, runWrangler } from "./wrangler.ts";

const BINDING = "DB";

/** Opens the local database, or that of the deployment, through the same binding as the Worker. */
export async function openDatabase({ remote }: { remote: boolean }): Promise<{
  d1: D1Database;
  close(): Promise<void>;
}> {
  const directory = mkdtempSync(join(tmpdir(), "longshore-"));
  const configPath = join(directory, "wrangler.json");
  const database = remote ? await describeRemote() : describe();
  const compatibility_date = "2026-10-01";
  writeFileSync(
    configPath,
    JSON.stringify({ name: "longshore", compatibility_date, d1_databases: [database] }),
  );
  const { env, dispose } = await getPlatformProxy<{ DB: D1Database }>({
    configPath,
    persist: { path: join(ROOT, ".wrangler/state/v3") },
    remoteBindings: remote,
  });
  const close = async () => {
    await dispose();
    rmSync(directory, { recursive: true });
  };
  return { d1: env.DB, close };
}

export async function migrateLocally(): Promise<void> {
  const { code, stdout, stderr } = await runWrangler(
    ["d1", "migrations", "apply", BINDING, "--local"],
    { env: { CI: "1" }, ownGroup: true },
  );
  if (code !== 0) throw new CommandError(`The migrations failed.\n${stdout}${stderr}`);
}

function describe() {
  const database = readConfiguration().d1_databases.find(({ binding }) => binding === BINDING);
  if (!database)
    throw new CommandError(`Add a database for the binding ${BINDING} to wrangler.toml.`);
  return database;
}

/** Adds the database's ID, which a remote binding needs and wrangler.toml omits. */
async function describeRemote() {
  const database = describe();
  const { database_name = "", database_id } = database;
  if (database_id) return { ...database, remote: true };
  const { code, stdout, stderr } = await runWrangler(["d1", "info", database_name, "--json"]);
  if (code !== 0) throw new CommandError(stdout + stderr);
  const { uuid } = JSON.parse(stdout) as { uuid: string };
  return { ...database, database_id: uuid, remote: true };
}
