import { ChildProcess, spawn } from "node:child_process";
import { pause } from "./api.ts";

const HAS_PROCESS_GROUPS = process.platform !== "win32";
const POLL_EVERY_MS = 50;

export interface Ended {
  ok: boolean;
  /** Why not; never with anything of the environment in it. */
  reason?: string;
}

/**
 * Runs the command through the shell, in a process group of its own, so that a Ctrl-C reaches it
 * only through this runner, and a signal reaches whatever the command has started. When `stop` is
 * given, the group gets SIGTERM, and SIGKILL once the grace is over or `force` is given.
 */
export async function runCommand(
  command: string,
  env: NodeJS.ProcessEnv,
  { stop, force, graceMs }: { stop: AbortSignal; force: AbortSignal; graceMs: number },
): Promise<Ended> {
  const child = start(command, env);
  if (!(child instanceof ChildProcess)) return child;
  const ended = new Promise<Ended>((resolve) => {
    child.once("error", (error) => resolve({ ok: false, reason: describe(error) }));
    child.once("exit", (code, signal) => resolve(toEnded(code, signal)));
  });
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    signalGroup(child, "SIGKILL");
  };
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    signalGroup(child, "SIGTERM");
    timer = setTimeout(kill, graceMs);
  };
  process.once("exit", kill);
  stop.addEventListener("abort", onStop, { once: true });
  force.addEventListener("abort", kill, { once: true });
  if (stop.aborted) onStop();
  if (force.aborted) kill();
  const result = await ended;
  // What it leaves behind must not go on by itself; while it is stopped, it has the grace too.
  if (stop.aborted) while (!isKilled && signalGroup(child, 0)) await pause(POLL_EVERY_MS);
  kill();
  clearTimeout(timer);
  process.off("exit", kill);
  stop.removeEventListener("abort", onStop);
  force.removeEventListener("abort", kill);
  return result;
}

function start(command: string, env: NodeJS.ProcessEnv): ChildProcess | Ended {
  try {
    return spawn(command, {
      shell: true,
      env,
      detached: HAS_PROCESS_GROUPS,
      stdio: ["ignore", "inherit", "inherit"],
    });
  } catch (error) {
    return { ok: false, reason: describe(error) };
  }
}

/** By its code alone: Node's message quotes a value that the environment cannot take. */
function describe(error: unknown): string {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  return `The command could not be started: ${code}.`;
}

function toEnded(code: number | null, signal: NodeJS.Signals | null): Ended {
  if (code === 0) return { ok: true };
  const reason = signal ? `The command was ended by ${signal}.` : `The command ended with ${code}.`;
  return { ok: false, reason };
}

/** False if nobody is left in the group. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  if (!HAS_PROCESS_GROUPS) return child.exitCode === null && child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
