import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { explainStartError, type StartedProgram } from "../../../runner/src/start-error.ts";
import { ProgramError } from "./run-program.ts";

export interface ToolOptions {
  folder?: string;
  /** In addition to the program's own. */
  variables?: Readonly<Record<string, string>>;
  /** Gets each line of the standard output. Default: the log. */
  onLine?(line: string): void;
  /** What it prints to standard error is not in the log, because its failure is expected. */
  hidesErrors?: boolean;
  /** Gets each line of the standard error. Default: the log. */
  onErrorLine?(line: string): void;
  /** Sends the tool SIGINT when it aborts, once: a second one makes some tools give up what they work on. */
  interrupt?: AbortSignal;
}

export interface ToolResult {
  /** Null: a signal ended it. */
  code: number | null;
}

/** A signal to the process group may end the tool before this process has handled it. */
const SIGNAL_MS = 1_000;

/**
 * Runs a tool without a shell, in the process group of the program: the runner's signals reach both, except SIGTERM if
 * the executor is defined with `endsItsTools`. What it prints to standard error is in the log. Throws a `ProgramError`
 * if the tool cannot be started.
 */
export async function runTool(
  file: string,
  args: readonly string[],
  { folder, variables = {}, onLine, onErrorLine, hidesErrors = false, interrupt }: ToolOptions = {},
): Promise<ToolResult> {
  const unread = hidesErrors ? "ignore" : "inherit";
  const env = { ...process.env, ...variables };
  const child = start(file, args, {
    cwd: folder,
    env,
    stdio: ["ignore", onLine ? "pipe" : "inherit", onErrorLine ? "pipe" : unread],
  });
  if (onLine && child.stdout) createInterface({ input: child.stdout }).on("line", onLine);
  if (onErrorLine && child.stderr) createInterface({ input: child.stderr }).on("line", onErrorLine);
  const onInterrupt = () => child.kill("SIGINT");
  interrupt?.addEventListener("abort", onInterrupt, { once: true });
  try {
    const [code] = await once(child, "close");
    if (code === null) await delay(SIGNAL_MS);
    return { code };
  } catch (error) {
    throw toProgramError(error, { file, args, env, folder });
  } finally {
    interrupt?.removeEventListener("abort", onInterrupt);
  }
}

function start(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, args, options);
  } catch (error) {
    throw toProgramError(error, { file, args, env: options.env ?? {} });
  }
}

function toProgramError(error: unknown, program: StartedProgram): ProgramError {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  const explanation = explainStartError(error, program) ?? "Install it on the runner's PATH.";
  return new ProgramError(`${program.file} could not be started: ${code}. ${explanation}`);
}

/** What a tool prints to standard output. Throws a `ProgramError` with `problem` if it fails. */
export async function readTool(
  file: string,
  args: readonly string[],
  { problem, ...options }: Omit<ToolOptions, "onLine"> & { problem: string },
): Promise<string> {
  const lines: string[] = [];
  const { code } = await runTool(file, args, { ...options, onLine: (line) => lines.push(line) });
  if (code !== 0) throw new ProgramError(problem);
  return lines.join("\n");
}
