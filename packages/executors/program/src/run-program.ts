import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import type { StackInput } from "../../../runner/src/stack-input.ts";
import { Report } from "./report.ts";

/** What the program of an executor works with. */
export interface ProgramContext<Values> {
  input: StackInput;
  /** The checked settings of the stack: references are replaced, and paths are absolute. */
  settings: Values;
  /** The deployment's variables that the executor takes. Only what its tool needs may become the tool's environment. */
  variables: Readonly<Record<string, string>>;
  report: Report;
  /** For files of the program. Only the runner's user can read it, and the runner removes it, whatever ends the program. */
  folder: string;
  /** Aborts when the runner asks to stop: cancel at the provider, report what is there, and return or throw. */
  stop: AbortSignal;
}

/** Why a stack fails. The message is for people: it says what to change, and has no secrets. */
export class ProgramError extends Error {}

/**
 * Runs the program of an executor. It returns if the stack has succeeded; the message of a `ProgramError` becomes the
 * reason of the stack.
 */
export async function runProgram<Values>(
  run: (context: ProgramContext<Values>) => Promise<void>,
): Promise<void> {
  const report = new Report(readVariable("LONGSHORE_REPORT_FILE"));
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  try {
    const input = readJson<StackInput>("LONGSHORE_INPUT_FILE");
    const settings = readJson<Values>("LONGSHORE_SETTINGS_FILE");
    const folder = dirname(readVariable("LONGSHORE_SETTINGS_FILE"));
    const variables = JSON.parse((await text(process.stdin)) || "{}");
    await run({ input, settings, variables, report, folder, stop: stop.signal });
  } catch (error) {
    process.exitCode = 1;
    console.error(error instanceof ProgramError ? error.message : error);
    if (error instanceof ProgramError) report.statusReason(error.message);
  }
}

function readJson<T>(variable: string): T {
  return JSON.parse(readFileSync(readVariable(variable), "utf8"));
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set. The runner starts this program.`);
  return value;
}
