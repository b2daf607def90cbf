import { existsSync, mkdirSync, rmSync } from "node:fs";
import { isLoopback } from "../../../src/lib/origins.ts";
import { findRefusedSettings, type SecretName } from "../../../src/lib/settings.ts";
import { type DataFolder, openDataFolder } from "./data/data-folder.ts";
import { lockFolder } from "./data/folder-lock.ts";
import { explainFullDisk } from "./data/full-disk.ts";
import { readGivenSecrets, readGivenSettings } from "./data/given-settings.ts";
import { removeRuntimeFile, writeRuntimeFile } from "./data/runtime-file.ts";
import { requireKnownDatabase, writeStamp } from "./data/stamp.ts";
import { ensureSecrets } from "./data/stored-secrets.ts";
import { databasePath } from "./database/database-path.ts";
import { connectDatabase } from "./database/database-worker.ts";
import { readMigrations } from "./database/migrations.ts";
import { prepareDatabase } from "./database/prepare-database.ts";
import { bootstrap, createSignInLink, hasFirstKey } from "./first-key.ts";
import { explainListenError } from "./listening.ts";
import { createLogWriter } from "./log-writer.ts";
import type { ServeOptions } from "./options.ts";
import { type NewAccess, readyMessage } from "./ready-message.ts";
import { endAbandonedProcess, recordProcesses } from "./runtime/abandoned-process.ts";
import { internetAnd } from "./runtime/outgoing-network.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { databaseIdOf, type WorkerPackage } from "./runtime/worker-package.ts";
import { newToken, requireNoneRefused } from "./secrets.ts";
import { Server } from "./server.ts";
import { waitForSignal } from "./signals.ts";

export interface ServeContext {
  worker: WorkerPackage;
  environment: Readonly<NodeJS.Dict<string>>;
  print(text: string): void;
}

/** Runs the server until a signal ends it. */
export async function serve(options: ServeOptions, context: ServeContext): Promise<number> {
  const signal = waitForSignal();
  const folder = openDataFolder(options.data);
  const lock = lockFolder(folder.lockFile, { pid: process.pid, use: `at ${options.url.origin}` });
  try {
    const server = await Server.listen(options);
    const stopRecording = recordProcesses(folder.processFile);
    const started = start(server, folder, options, context);
    try {
      await Promise.race([signal, started]);
      await signal;
      context.print("Stopping. Running requests have 20 seconds.");
    } catch (error) {
      throw explainFullDisk(error, folder.path);
    } finally {
      await server.stop();
      // An interrupted start ends the workerd that it has started.
      await started.catch(() => undefined);
      removeRuntimeFile(folder.runtimeFile);
      stopRecording();
    }
    return 0;
  } finally {
    lock.release();
  }
}

/** Prepares the data, runs the Worker, and prints how to use it. */
async function start(
  server: Server,
  folder: DataFolder,
  options: ServeOptions,
  context: ServeContext,
): Promise<void> {
  const { worker, print } = context;
  if (options.metricsPort !== undefined) {
    await listenForMetrics(server, options.metricsPort, options);
  }
  useTemporaryFolder(folder);
  await endAbandonedProcess(folder.processFile, folder.state);
  const { secrets, settings } = prepareData(folder, options, context);
  const runtime = await server.run({
    worker,
    state: folder.state,
    bindings: { METRICS_TOKEN: newToken(), ...settings, ...secrets },
    outgoing: internetAnd(options.privateNetworks),
    log: createLogWriter(options.log, print),
    isLogged: () => true,
  });
  writeRuntimeFile(folder.runtimeFile, { database: runtime.database });
  const access = await findAccess(runtime, options, secrets.BOOTSTRAP_TOKEN);
  print(readyMessage(options.url.origin, folder.path, access));
}

/** What Miniflare writes outside of its state. A server that was killed leaves it. */
function useTemporaryFolder({ temporary }: DataFolder): void {
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { mode: 0o700 });
  process.env["TMPDIR"] = temporary;
}

async function listenForMetrics(
  server: Server,
  port: number,
  { host }: ServeOptions,
): Promise<void> {
  try {
    await server.serveMetrics(host, port);
  } catch (error) {
    explainListenError(error, { host, port, option: "metrics-port" });
  }
}

interface Prepared {
  secrets: Record<SecretName, string>;
  settings: Record<string, string>;
}

/** Everything that a start may refuse, before anything runs. */
function prepareData(
  folder: DataFolder,
  { url, host }: ServeOptions,
  context: ServeContext,
): Prepared {
  const { worker, environment, print } = context;
  const database = databasePath(folder.state, databaseIdOf(worker.settings));
  requireKnownDatabase(folder, database);
  const given = readGivenSecrets(environment);
  const settings = readGivenSettings(worker.settings.vars, environment);
  // Other machines reach what listens for them, whatever --url says.
  const reached = isLoopback(host) ? url.href : `http://${host}`;
  const refused = findRefusedSettings({ ...worker.settings.vars, ...settings, ...given }, reached);
  requireNoneRefused(
    refused.filter(({ name }) => name in given || name in settings),
    "The Worker refuses these settings:",
  );
  // First, so that no database exists without the keys of its values.
  const secrets = ensureSecrets(folder.secretsFile, { given, hasDatabase: existsSync(database) });
  const migrations = readMigrations(worker.migrations);
  const prepared = prepareDatabase({ database, copies: folder.copies, migrations });
  writeStamp(folder, worker.release);
  if (prepared.copy !== undefined) {
    print(`Migrated the database. ${prepared.copy} is the copy from before.`);
  }
  return { secrets, settings: { ...settings, ...given } };
}

/** The first key, which is made once, or another one that somebody asks for. */
async function findAccess(
  { database }: Runtime,
  { url, port, host, needsNewKey }: ServeOptions,
  bootstrapToken: string,
): Promise<NewAccess | undefined> {
  const own = ownAddress(host, port);
  const d1 = connectDatabase(database);
  const first = (await hasFirstKey(d1)) ? undefined : await bootstrap(own, bootstrapToken);
  const apiKey = first ?? (needsNewKey ? await createKey(d1) : undefined);
  if (apiKey === undefined) return undefined;
  const { pathname } = new URL(await createSignInLink(own, apiKey));
  return { apiKey, signInLink: new URL(pathname, url).href };
}

/** Loads the tables only if they are needed. */
async function createKey(d1: D1Database): Promise<string> {
  const { createFirstOwnerKey } = await import("./owner-key.ts");
  return createFirstOwnerKey(d1, "longshore serve");
}

/** Where this process reaches itself. */
function ownAddress(host: string, port: number): string {
  const isAny = host === "0.0.0.0" || host === "::";
  const reached = isAny || host === "localhost" ? "127.0.0.1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}
