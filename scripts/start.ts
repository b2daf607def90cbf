/** `npm start`: Longshore on this machine, with an API key to use it. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { migrateLocally } from "./lib/database.ts";
import { ensureDevVars } from "./lib/dev-vars.ts";
import { Failure, runScript } from "./lib/command.ts";
import { greetAgain, greetNewcomer } from "./lib/start-message.ts";
import { bootstrap, runSchedule, waitUntilHealthy } from "./lib/local-api.ts";
import { findObstacle } from "./lib/port.ts";
import { ROOT, startWrangler, stopWrangler } from "./lib/wrangler.ts";

const DEFAULT_PORT = "8787";
const MAXIMUM_PORT = 65_535;
const USAGE = "Usage: npm start [-- --port N]";

await runScript(start);

async function start(): Promise<number> {
  const port = readPort(process.argv.slice(2));
  await requireFree(port);
  const wasStopped = stopOnSignals();
  const secrets = ensureDevVars(join(ROOT, ".dev.vars"));
  try {
    await migrateLocally();
    if (wasStopped()) return 0;
    const exitCode = await serve(port, secrets.BOOTSTRAP_TOKEN);
    // Its launcher gives 0 for a wrangler that was killed.
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
  throw new Failure(`--port takes a number from 1 to ${MAXIMUM_PORT}, not "${text}".\n${USAGE}`, 2);
}

function parsePort(args: string[]): string {
  try {
    const { values } = parseArgs({
      args,
      options: { port: { type: "string", default: DEFAULT_PORT } },
    });
    return values.port;
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}

async function requireFree(port: number): Promise<void> {
  const obstacle = await findObstacle(port);
  if (!obstacle) return;
  throw new Failure(`Port ${port} cannot be had: ${obstacle}. Try npm start -- --port N.`);
}

/** Ends wrangler when this process is asked to end, and at once when asked twice. */
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

/** Runs the Worker until it ends, and says how to use it once it is ready. */
async function serve(port: number, bootstrapToken: string): Promise<number> {
  const url = `http://localhost:${port}`;
  const { exited } = startWrangler(["dev", "--port", String(port)], {
    stdio: ["ignore", "inherit", "inherit"],
    ownGroup: true,
  });
  const gone = new AbortController();
  exited.finally(() => gone.abort());
  runSchedule(url, gone.signal);
  try {
    await waitUntilHealthy(url, gone.signal);
    const key = await bootstrap(url, bootstrapToken);
    console.log(key ? greetNewcomer(url, key) : greetAgain(url));
  } catch (error) {
    if (gone.signal.aborted) return exited;
    stopWrangler();
    await exited;
    throw error;
  }
  return exited;
}
