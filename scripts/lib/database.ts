import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";
import { readConfiguration } from "./configuration.ts";
import { Failure } from "./command.ts";
import { ROOT, runWrangler } from "./wrangler.ts";

const BINDING = "DB";

/** The database of this machine, or that of the deployment, as the Worker itself would have it. */
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

/** Brings the database of this machine up to date. */
export async function migrateLocally(): Promise<void> {
  const { code, stdout, stderr } = await runWrangler(
    ["d1", "migrations", "apply", BINDING, "--local"],
    { env: { CI: "1" }, ownGroup: true },
  );
  if (code !== 0) throw new Failure(`The migrations failed.\n${stdout}${stderr}`);
}

function describe() {
  const database = readConfiguration().d1_databases.find(({ binding }) => binding === BINDING);
  if (!database) throw new Failure(`wrangler.toml names no database for the binding ${BINDING}.`);
  return database;
}

/** With its ID, which a binding to a remote database needs and wrangler.toml does not have. */
async function describeRemote() {
  const database = describe();
  const { database_name = "", database_id } = database;
  if (database_id) return { ...database, remote: true };
  const { code, stdout, stderr } = await runWrangler(["d1", "info", database_name, "--json"]);
  if (code !== 0) throw new Failure(stdout + stderr);
  const { uuid } = JSON.parse(stdout) as { uuid: string };
  return { ...database, database_id: uuid, remote: true };
}
