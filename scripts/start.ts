/** `npm start`: runs Longshore locally and, on the first start, prints an API key. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand } from "./lib/command.ts";
import { migrateLocally } from "./lib/database.ts";
import { ensureDevVars } from "./lib/dev-vars.ts";
import { bootstrap, runSchedule, waitUntilHealthy } from "./lib/local-api.ts";
import { whyUnavailable } from "./lib/port.ts";
import { firstStartMessage, laterStartMessage } from "./lib/start-message.ts";
import { ROOT, startWrangler, stopWrangler } from "./lib/wrangler.ts";

const DEFAULT_PORT = "8787";
const MAXIMUM_PORT = 65_535;
const USAGE = "Usage: npm start [-- --port N]";

await runCommand(start);

async function start(): Promise<number> {
  const port = readPort(process.argv.slice(2));
  await requireFree(port);
  const wasStopped = stopOnSignals();
  const secrets = ensureDevVars(join(ROOT, ".dev.vars"));
  try {
    await migrateLocally();
    if (wasStopped()) return 0;
    const exitCode = await serve(port, secrets.BOOTSTRAP_TOKEN);
    // The launcher of wrangler exits with 0 if wrangler was killed.
    return wasStopped() ? 0 : exitCode || 1;
  } catch (error) {
    if (wasStopped()) return 0;
    throw error;
  }
}

function readPort(args: string[]): number {
  const text = parsePort(args);
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= MAXIMUM_PORT) return port;
  throw new CommandError(
    `Set --port to a number from 1 to ${MAXIMUM_PORT}; "${text}" is not one.\n${USAGE}`,
    2,
  );
}

function parsePort(args: string[]): string {
  try {
    const { values } = parseArgs({
      args,
      options: { port: { type: "string", default: DEFAULT_PORT } },
    });
    return values.port;
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
async function serve(port: number, bootstrapToken: string): Promise<number> {
  const url = `http://localhost:${port}`;
  const { exited } = startWrangler(["dev", "--port", String(port)], {
    stdio: ["ignore", "inherit", "inherit"],
    ownGroup: true,
  });
  const exitController = new AbortController();
  exited.finally(() => exitController.abort());
  runSchedule(url, exitController.signal);
  try {
    await waitUntilHealthy(url, exitController.signal);
    const key = await bootstrap(url, bootstrapToken);
    console.log(key ? firstStartMessage(url, key) : laterStartMessage(url));
  } catch (error) {
    if (exitController.signal.aborted) return exited;
    stopWrangler();
    await exited;
    throw error;
  }
  return exited;
}
