import { ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { delay } from "./api.ts";
import { type OutputPipe, openOutputPipe } from "./output-pipe.ts";
import { explainStartError } from "./start-error.ts";

const HAS_PROCESS_GROUPS = process.platform !== "win32";
const POLL_EVERY_MS = 50;
/** How a shell ends if it finds a program no more than the kernel does. */
const NOT_FOUND = 127;
/** A process that has left the group may keep the pipe open. */
export const DRAIN_MS = 1_000;

/** What runs without a shell. */
export interface Program {
  file: string;
  args: readonly string[];
  /** Default: the runner's own. */
  folder?: string;
  /** Whether SIGTERM is for the program alone, because the tools that it runs need another signal. */
  endsItsTools?: boolean;
  /** What it reads from its standard input, which is empty by default. */
  input?: string;
}

export interface CommandResult {
  ok: boolean;
  /** Why the command failed; contains no values of environment variables. */
  reason?: string;
}

export interface CommandOptions {
  stop: AbortSignal;
  force: AbortSignal;
  graceMs: number;
  /** Called with what the command prints, in order. */
  onOutput(chunk: Buffer): void;
}

/**
 * Runs a shell command or a program in a process group of its own, so that a Ctrl-C does not reach it directly
 * and a signal reaches its child processes. `stop` sends SIGTERM, to a program with `endsItsTools` alone; `force`, or the end of the grace
 * period, sends SIGKILL.
 */
export async function runCommand(
  command: string | Program,
  env: NodeJS.Dict<string>,
  { stop, force, graceMs, onOutput }: CommandOptions,
): Promise<CommandResult> {
  const pipe = await openOutputPipe();
  const child = start(command, env, pipe);
  if (!(child instanceof ChildProcess)) return child;
  const outputs = pipe ? [pipe.reader] : [child.stdout, child.stderr];
  const drained = readOutput(
    outputs.filter((each) => each !== null),
    onOutput,
  );
  const ended = new Promise<CommandResult>((resolve) => {
    child.once("error", (error) => resolve({ ok: false, reason: describe(error, command, env) }));
    child.once("exit", (code, signal) => {
      resolve(
        code === NOT_FOUND && typeof command === "string" ? notFound : toResult(code, signal),
      );
    });
  });
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    signalGroup(child, "SIGKILL");
  };
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    if (typeof command === "object" && command.endsItsTools) child.kill("SIGTERM");
    else signalGroup(child, "SIGTERM");
    timer = setTimeout(kill, graceMs);
  };
  process.once("exit", kill);
  stop.addEventListener("abort", onStop, { once: true });
  force.addEventListener("abort", kill, { once: true });
  if (stop.aborted) onStop();
  if (force.aborted) kill();
  const result = await ended;
  // Remaining child processes are killed too; after a stop, they also get the grace period.
  if (stop.aborted) while (!isKilled && signalGroup(child, 0)) await delay(POLL_EVERY_MS);
  kill();
  clearTimeout(timer);
  await drained();
  process.off("exit", kill);
  stop.removeEventListener("abort", onStop);
  force.removeEventListener("abort", kill);
  return result;
}

function start(
  command: string | Program,
  env: NodeJS.Dict<string>,
  pipe: OutputPipe | undefined,
): ChildProcess | CommandResult {
  const output = pipe?.writer ?? "pipe";
  try {
    const options: SpawnOptions = {
      env: env as NodeJS.ProcessEnv,
      detached: HAS_PROCESS_GROUPS,
      stdio: ["ignore", output, output],
    };
    if (typeof command === "string") return spawn(command, { ...options, shell: true });
    return startProgram(command, options, output);
  } catch (error) {
    pipe?.reader.destroy();
    return { ok: false, reason: describe(error, command, env) };
  } finally {
    if (pipe) closeSync(pipe.writer);
  }
}

function startProgram(
  { file, args, folder: cwd, input }: Program,
  options: SpawnOptions,
  output: number | "pipe",
): ChildProcess {
  if (input === undefined) return spawn(file, args, { ...options, cwd });
  const child = spawn(file, args, { ...options, cwd, stdio: ["pipe", output, output] });
  // The program may end before it has read everything.
  child.stdin?.on("error", () => undefined).end(input);
  return child;
}

/** Returns a function that waits for the rest of the output, after the end of the process. */
function readOutput(streams: readonly Readable[], onOutput: (chunk: Buffer) => void) {
  const ends = streams.map((stream) => {
    stream.on("data", onOutput);
    return new Promise<void>((resolve) => stream.once("close", resolve));
  });
  return async () => {
    const isOver = new AbortController();
    await Promise.race([Promise.all(ends), delay(DRAIN_MS, isOver.signal)]);
    isOver.abort();
    for (const stream of streams) stream.destroy();
  };
}

/** Node's message may quote the value of an environment variable. */
function describe(error: unknown, command: string | Program, env: NodeJS.Dict<string>): string {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  const program = typeof command === "string" ? { file: "", args: [command] } : command;
  const explanation = explainStartError(error, { ...program, env });
  return `The command could not be started: ${code}. ${explanation ?? ""}`.trimEnd();
}

const notFound = {
  ok: false,
  reason:
    "The command ended with 127. The log names what was not found: install it, or commit the script with LF instead of CRLF.",
};

function toResult(code: number | null, signal: NodeJS.Signals | null): CommandResult {
  if (code === 0) return { ok: true };
  const reason = signal ? `The command was ended by ${signal}.` : `The command ended with ${code}.`;
  return { ok: false, reason };
}

/** Returns false if the group has no processes left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  if (!HAS_PROCESS_GROUPS) return child.exitCode === null && child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
