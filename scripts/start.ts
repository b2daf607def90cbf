/** `npm start`: runs Longshore locally and, on the first start, prints an API key. */
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { databasePath } from "../packages/server/src/database/database-path.ts";
import { connectDatabase } from "../packages/server/src/database/database-worker.ts";
import { prepareDatabase } from "../packages/server/src/database/prepare-database.ts";
import { bootstrap, createSignInLink, hasFirstKey } from "../packages/server/src/first-key.ts";
import { Networks } from "../packages/server/src/http/client-address.ts";
import { createLogWriter } from "../packages/server/src/log-writer.ts";
import {
  endAbandonedProcess,
  recordProcesses,
} from "../packages/server/src/runtime/abandoned-process.ts";
import { databaseIdOf } from "../packages/server/src/runtime/worker-package.ts";
import { Server } from "../packages/server/src/server.ts";
import { CommandError, runCommand } from "./lib/command.ts";
import { ensureDevVars, readDevVars, requireSafeDevVars } from "./lib/dev-vars.ts";
import { acquireLock } from "./lib/lock.ts";
import { readMigrations } from "./lib/migrations.ts";
import { whyUnavailable } from "./lib/port.ts";
import { startMessage } from "./lib/start-message.ts";
import { ensureWorker } from "./lib/worker-build.ts";
import { ROOT, STATE } from "./lib/wrangler.ts";

const DEV_VARS = join(ROOT, ".dev.vars");
/** Copies of the database from before migrations. */
const COPIES = join(ROOT, ".wrangler/copies");
/** Has the ID of workerd's process. */
const PROCESS_FILE = join(ROOT, ".wrangler/workerd.pid");
const DEFAULT_PORT = "8787";
const MAXIMUM_PORT = 65_535;
const USAGE = "Usage: npm start [-- --port N --new-key --verbose]";

interface Options {
  port: number;
  /** Creates an API key also if there are others. */
  newKey: boolean;
  /** Prints a line for each request. */
  verbose: boolean;
}

await runCommand(start);

async function start(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const url = new URL(`http://localhost:${options.port}`);
  acquireLock(url.origin);
  await requireFree(options.port);
  const stopped = stopOnSignals();
  const stopRecording = recordProcesses(PROCESS_FILE);
  const listener = { host: "localhost", port: options.port, url, trustedProxies: new Networks([]) };
  const server = await Server.listen(listener);
  try {
    const isStopped = once(stopped, "abort");
    await Promise.race([isStopped, run(server, url, options)]);
    await isStopped;
    return 0;
  } finally {
    await server.stop();
    stopRecording();
  }
}

function readOptions(args: string[]): Options {
  const { port: text, "new-key": newKey, verbose } = parseOptions(args);
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= MAXIMUM_PORT) return { port, newKey, verbose };
  throw new CommandError(
    `Set --port to a number from 1 to ${MAXIMUM_PORT}; "${text}" is not one.\n${USAGE}`,
    2,
  );
}

function parseOptions(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        port: { type: "string", default: DEFAULT_PORT },
        "new-key": { type: "boolean", default: false },
        verbose: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}

async function requireFree(port: number): Promise<void> {
  const reason = await whyUnavailable(port);
  if (!reason) return;
  throw new CommandError(
    `Port ${port} is unavailable: ${reason}. Choose another with npm start -- --port N.`,
  );
}

/** The first signal ends the server gracefully, the second at once. */
function stopOnSignals(): AbortSignal {
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopped.signal.aborted) process.exit(1);
      stopped.abort();
    });
  }
  return stopped.signal;
}

/** Runs the Worker on the data of `wrangler dev`, and prints how to use it. */
async function run(server: Server, url: URL, { newKey, verbose }: Options): Promise<void> {
  const secrets = ensureDevVars(DEV_VARS);
  const worker = await ensureWorker();
  await endAbandonedProcess(PROCESS_FILE, STATE);
  const database = databasePath(STATE, databaseIdOf(worker.settings));
  prepareDatabase({ database, copies: COPIES, migrations: readMigrations() });
  const settings = readDevVars(DEV_VARS);
  requireSafeDevVars({ ...worker.settings.vars, ...settings }, url.href);
  const { database: address } = await server.run({
    worker,
    state: STATE,
    bindings: settings as Record<string, string>,
    outgoing: { allow: ["public", "private"], deny: [] },
    log: createLogWriter("text", (line) => console.log(line)),
    isLogged: (level) => verbose || level === "error",
  });
  const d1 = connectDatabase(address);
  const firstKey = (await hasFirstKey(d1))
    ? undefined
    : await bootstrap(url.origin, secrets.BOOTSTRAP_TOKEN);
  const apiKey = firstKey ?? (newKey ? await createKey(d1) : undefined);
  const access =
    apiKey === undefined
      ? undefined
      : { apiKey, signInLink: await createSignInLink(url.origin, apiKey) };
  console.log(startMessage(url.origin, access));
}

/** Loads the tables, which takes most of a second, only if they are needed. */
async function createKey(d1: D1Database): Promise<string> {
  const { createFirstOwnerKey } = await import("../packages/server/src/owner-key.ts");
  return createFirstOwnerKey(d1, "npm start");
}
