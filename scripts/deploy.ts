/**
 * `npm run deploy`: checks the settings, creates missing queues and the database, migrates the database, and
 * deploys the Worker with its static assets, so that new code never runs on an old schema. After a failure,
 * run it again.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPTIONAL_SECRET_NAMES, requireNoneRefused } from "../packages/server/src/secrets.ts";
import { findRefusedSettings, REQUIRED_SECRETS } from "../src/lib/settings.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { readConfiguration } from "./lib/configuration.ts";
import { runWrangler, startWrangler } from "./lib/wrangler.ts";

const BINDING = "DB";
/** Any URL that is not local, for the settings that depend on it. */
const PUBLIC_URL = "https://longshore.workers.dev";

await runCommand(async () => {
  if (process.argv.length > 2)
    throw new CommandError("npm run deploy takes no arguments. Remove them.", 2);
  await requireSafeGivenSettings();
  await ensureQueues();
  await ensureDatabase();
  await migrate();
  return deploy();
});

/** A deployment keeps the secrets that are not given. The other settings are those of wrangler.toml. */
async function requireSafeGivenSettings(): Promise<void> {
  const { vars } = await readConfiguration();
  const isKept = (name: string) => !(name in vars) && !process.env[name];
  const refused = findRefusedSettings({ ...process.env, ...vars }, PUBLIC_URL);
  requireNoneRefused(
    refused.filter(({ name }) => !isKept(name)),
    "Nothing was deployed, because the Worker refuses these settings:",
  );
}

/** `wrangler deploy` fails if a queue of wrangler.toml does not exist. */
async function ensureQueues(): Promise<void> {
  const { producers = [], consumers = [] } = (await readConfiguration()).queues;
  const named = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue]),
  ];
  const names = new Set(named.filter((name) => name !== undefined));
  for (const name of names) if (!(await hasQueue(name))) await createQueue(name);
}

async function hasQueue(name: string): Promise<boolean> {
  const { code, stdout, stderr } = await runWrangler(["queues", "info", name]);
  if (code === 0) return true;
  if (!(stdout + stderr).includes("does not exist")) throw new CommandError(stdout + stderr);
  return false;
}

async function createQueue(name: string): Promise<void> {
  console.log(`Creating the queue ${name}.`);
  const { code, stdout, stderr } = await runWrangler(["queues", "create", name]);
  if (code !== 0) throw new CommandError(stdout + stderr);
}

/** Created here, because a database that `wrangler deploy` creates could not be migrated first. */
async function ensureDatabase(): Promise<void> {
  const { d1_databases } = await readConfiguration();
  const database = d1_databases.find(({ binding }) => binding === BINDING);
  const { database_id: id, database_name: name } = database ?? {};
  if (!name)
    throw new CommandError(`Add a database_name for the binding ${BINDING} to wrangler.toml.`);
  if (id || (await listDatabases()).includes(name)) return;
  console.log(`Creating the database ${name}.`);
  const { code, stdout, stderr } = await runWrangler(["d1", "create", name]);
  if (code !== 0) throw new CommandError(stdout + stderr);
}

async function listDatabases(): Promise<string[]> {
  const { code, stdout, stderr } = await runWrangler(["d1", "list", "--json"]);
  if (code !== 0) throw new CommandError(stdout + stderr);
  const databases = JSON.parse(stdout) as { name: string }[];
  return databases.map(({ name }) => name);
}

/** `CI` suppresses the prompt: answering "no" would not stop the deployment. */
async function migrate(): Promise<void> {
  const { exited } = startWrangler(["d1", "migrations", "apply", BINDING, "--remote"], {
    env: { CI: "1" },
  });
  if ((await exited) !== 0)
    throw new CommandError(
      "The migrations failed, and nothing was deployed. Fix the cause above and run npm run deploy again. " +
        "If a table exists already, the database is older than the baseline: npm run adopt-baseline -- --remote",
    );
}

/** Updates the secrets that are set in the environment, and keeps the others. */
async function deploy(): Promise<number> {
  const names = [...REQUIRED_SECRETS, ...OPTIONAL_SECRET_NAMES];
  const given = names.filter((name) => process.env[name]);
  if (given.length === 0) return runDeploy([]);
  const directory = mkdtempSync(join(tmpdir(), "longshore-"));
  try {
    const file = join(directory, "secrets.json");
    const secrets = Object.fromEntries(given.map((name) => [name, process.env[name]]));
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 });
    return await runDeploy(["--secrets-file", file]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The build of the static assets, which wrangler starts, gets none of the secrets. */
async function runDeploy(args: readonly string[]): Promise<number> {
  const names = [...REQUIRED_SECRETS, ...OPTIONAL_SECRET_NAMES];
  const env = Object.fromEntries(names.map((name) => [name, ""]));
  const code = await startWrangler(["deploy", ...args], { env }).exited;
  const absent = REQUIRED_SECRETS.filter((name) => !process.env[name]);
  if (code !== 0 && absent.length > 0) {
    console.error(`For a first deployment, set these in the environment: ${absent.join(", ")}.`);
  }
  return code;
}
