/** `npm start`: runs Longshore locally and, on the first start, prints an API key. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand } from "./lib/command.ts";
import { ensureDevVars, requireSafeDevVars } from "./lib/dev-vars.ts";
import { bootstrap, createSignInLink, runSchedule, waitUntilHealthy } from "./lib/local-api.ts";
import { prepareDatabase } from "./lib/local-state.ts";
import { acquireLock } from "./lib/lock.ts";
import { whyUnavailable } from "./lib/port.ts";
import { startMessage } from "./lib/start-message.ts";
import { ROOT, startWrangler, stopWrangler } from "./lib/wrangler.ts";

const DEFAULT_PORT = "8787";
const MAXIMUM_PORT = 65_535;
const USAGE = "Usage: npm start [-- --port N --new-key --verbose]";

interface Options {
  port: number;
  /** Creates an API key also if there are others. */
  newKey: boolean;
  /** Prints wrangler's own output: the bindings, and a line for each request. */
  verbose: boolean;
}

await runCommand(start);

async function start(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  acquireLock(`http://localhost:${options.port}`);
  await requireFree(options.port);
  const wasStopped = stopOnSignals();
  const secrets = ensureDevVars(join(ROOT, ".dev.vars"));
  try {
    await prepareDatabase({ needsKeyState: false });
    requireSafeDevVars(secrets);
    if (wasStopped()) return 0;
    const exitCode = await serve(options, secrets.BOOTSTRAP_TOKEN);
    // The launcher of wrangler exits with 0 if wrangler was killed.
    return wasStopped() ? 0 : exitCode || 1;
  } catch (error) {
    if (wasStopped()) return 0;
    throw error;
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

/** Loads the tables, which takes most of a second, only if they are needed. */
async function createKey(): Promise<string> {
  const { createLocalKey } = await import("./lib/local-key.ts");
  return createLocalKey();
}

/** The first signal ends wrangler gracefully, the second kills it. */
function stopOnSignals(): () => boolean {
  let stopped = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const isRunning = stopWrangler({ force: stopped });
      stopped = true;
      if (!isRunning) process.exit(0);
    });
  }
  return () => stopped;
}

/** Runs the Worker until it ends, and prints how to use it when it is ready. */
async function serve(options: Options, bootstrapToken: string): Promise<number> {
  const url = `http://localhost:${options.port}`;
  const logLevel = options.verbose ? "log" : "error";
  // Wrangler does not choose its inspector's port atomically, so two that start together may collide.
  const ports = ["--port", String(options.port), "--inspector-port", "0"];
  const { exited } = startWrangler(["dev", ...ports, "--log-level", logLevel], {
    env: { LONGSHORE_CREATES_KEY: "true" },
    stdio: ["ignore", "inherit", "inherit"],
    ownGroup: true,
  });
  const exitController = new AbortController();
  exited.finally(() => exitController.abort());
  runSchedule(url, exitController.signal);
  try {
    await waitUntilHealthy(url, exitController.signal);
    const firstKey = await bootstrap(url, bootstrapToken);
    const apiKey = firstKey ?? (options.newKey ? await createKey() : undefined);
    const access =
      apiKey === undefined
        ? undefined
        : { apiKey, signInLink: await createSignInLink(url, apiKey) };
    console.log(startMessage(url, access));
  } catch (error) {
    if (exitController.signal.aborted) return exited;
    stopWrangler();
    await exited;
    throw error;
  }
  return exited;
}
