import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export const ROOT = join(import.meta.dirname, "../..");

/** Where `wrangler dev` keeps its data. */
export const STATE = join(ROOT, ".wrangler/state/v3");

export const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");

/** Disables telemetry, the download of request metadata, and the banner. */
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

const KILLED_EXIT_CODE = 1;
const HAS_PROCESS_GROUPS = process.platform !== "win32";

const running = new Set<ChildProcess>();

interface Options {
  env?: Record<string, string>;
  stdio?: StdioOptions;
  /**
   * Starts wrangler in its own process group, so that a Ctrl-C reaches it only through
   * `stopWrangler`, and its child processes are killed when it exits.
   */
  ownGroup?: boolean;
}

export function startWrangler(
  args: readonly string[],
  { env = {}, stdio = "inherit", ownGroup = false }: Options = {},
): { child: ChildProcess; exited: Promise<number> } {
  const detached = ownGroup && HAS_PROCESS_GROUPS;
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET, ...env },
    stdio,
    detached,
  });
  running.add(child);
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => detached && killGroup(child));
    child.once("close", (code) => {
      running.delete(child);
      resolve(code ?? KILLED_EXIT_CODE);
    });
  });
  return { child, exited };
}

/** Waits for a wrangler command and returns its output. */
export async function runWrangler(
  args: readonly string[],
  options: Omit<Options, "stdio"> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { child, exited } = startWrangler(args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const read = (stream: NodeJS.ReadableStream | null) => (stream ? text(stream) : "");
  const [code, stdout, stderr] = await Promise.all([
    exited,
    read(child.stdout),
    read(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/** Signals every running wrangler; returns false if there is none. */
export function stopWrangler({ force = false } = {}): boolean {
  for (const child of running) child.kill(force ? "SIGKILL" : "SIGTERM");
  return running.size > 0;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined || !HAS_PROCESS_GROUPS) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has no processes left.
  }
}
