import { parseArgs } from "node:util";
import { RunnerError } from "./errors.ts";

export interface Options {
  /** The origin of the API, without a trailing slash. */
  url: string;
  token: string;
  /** The shell command for each stack. */
  command: string;
  /** Exits after one deployment. */
  once: boolean;
  /** Time between SIGTERM and SIGKILL. */
  graceMs: number;
}

const USAGE =
  "Usage: npm run runner -- --url URL --exec COMMAND [--token TOKEN] [--once] [--grace SECONDS]\n" +
  "Prefer LONGSHORE_RUNNER_TOKEN to --token: other users of the machine can see command lines.";

/**
 * The server ends a deployment 120 s after its cancellation and may then offer the next one. A runner
 * without contact stops its command after its lease of 60 s, so the grace period must be below 60 s.
 */
const MAXIMUM_GRACE_SECONDS = 45;

export function readOptions(args: string[], environment: NodeJS.Dict<string>): Options {
  const values = parse(args);
  const token = values.token ?? environment["LONGSHORE_RUNNER_TOKEN"];
  if (!token?.startsWith("lsr_")) {
    throw new RunnerError(
      `Set LONGSHORE_RUNNER_TOKEN to the token of a runner pool (lsr_…).\n${USAGE}`,
      2,
    );
  }
  if (!values.exec)
    throw new RunnerError(`Set --exec to the command that deploys a stack.\n${USAGE}`, 2);
  return {
    url: readUrl(values.url),
    token,
    command: values.exec,
    once: values.once,
    graceMs: readGrace(values.grace) * 1000,
  };
}

function parse(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        url: { type: "string", default: "" },
        token: { type: "string" },
        exec: { type: "string" },
        once: { type: "boolean", default: false },
        grace: { type: "string", default: "30" },
      },
    });
    return values;
  } catch (error) {
    throw new RunnerError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new RunnerError(`Set --url to the URL of the API; "${text}" is not one.\n${USAGE}`, 2);
}

function readGrace(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= MAXIMUM_GRACE_SECONDS) return seconds;
  throw new RunnerError(`Set --grace to 0 to ${MAXIMUM_GRACE_SECONDS} seconds.\n${USAGE}`, 2);
}
