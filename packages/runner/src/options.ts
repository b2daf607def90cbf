import { parseArgs } from "node:util";
import { Failure } from "./errors.ts";

export interface Options {
  /** Where the API is, without a slash at its end. */
  url: string;
  token: string;
  /** What the shell runs for each stack. */
  command: string;
  /** Ends after one deployment. */
  once: boolean;
  /** How long the command may take to end when it is asked to. */
  graceMs: number;
}

const USAGE =
  "Usage: npm run runner -- --url URL --exec COMMAND [--token TOKEN] [--once] [--grace SECONDS]\n" +
  "The token is better kept in LONGSHORE_RUNNER_TOKEN: other users may see a command line.";

/**
 * The server ends a deployment 120 s after it was canceled, and may then offer the next one. A runner
 * that hears nothing stops its command when its lease of 60 s ends; that and the grace fit in.
 */
const MAXIMUM_GRACE_SECONDS = 45;

export function readOptions(args: string[], environment: NodeJS.Dict<string>): Options {
  const values = parse(args);
  const token = values.token ?? environment["LONGSHORE_RUNNER_TOKEN"];
  if (!token?.startsWith("lsr_")) {
    throw new Failure(`A runner needs a token of a runner pool, as lsr_….\n${USAGE}`, 2);
  }
  if (!values.exec) throw new Failure(`--exec takes the command of a deployment.\n${USAGE}`, 2);
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
    throw new Failure(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new Failure(`--url takes the address of the API, not "${text}".\n${USAGE}`, 2);
}

function readGrace(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= MAXIMUM_GRACE_SECONDS) return seconds;
  throw new Failure(`--grace takes 0 to ${MAXIMUM_GRACE_SECONDS} seconds.\n${USAGE}`, 2);
}
