import { Readable } from "node:stream";
import type { Command } from "commander";
import { readConnection } from "../connection.ts";
import { KINDS } from "../named-kinds.ts";
import type { NamedRecord } from "../names.ts";
import { toPlainText } from "../plain-text.ts";
import type { CliContext } from "../session.ts";
import { Session } from "../session.ts";
import { environmentPath, projectPath } from "../target.ts";

/** What completion asks the service for, as the words of a command. */
export const CANDIDATES = "__names";

/** Nobody waits longer for a suggestion. */
const WITHIN_MS = 1_500;
const MAXIMUM_NAMES = 200;

const SOURCES = {
  projects: { kind: KINDS.project, ownerPath: async () => ({}) },
  environments: { kind: KINDS.environment, ownerPath: projectPath },
  stacks: { kind: KINDS.stack, ownerPath: environmentPath },
} as const;

export type NameSource = keyof typeof SOURCES;

/** Prints the names that may follow the words of a command line, and nothing if it cannot. */
export function addNameCandidates(program: Command, context: CliContext): void {
  program
    .command(CANDIDATES, { hidden: true })
    .argument("<source>")
    .argument("[words...]")
    .action(async (source: string, words: string[]) => {
      if (!Object.hasOwn(SOURCES, source)) return;
      // A completion asks nothing.
      const silent = { ...context, stdin: Readable.from([]) };
      const names = await listNames(silent, source as NameSource, words).catch(() => []);
      for (const name of names) context.output.printExactly(`${name}\n`);
    });
}

async function listNames(
  context: CliContext,
  source: NameSource,
  words: readonly string[],
): Promise<string[]> {
  const { kind, ownerPath } = SOURCES[source];
  const options = {
    profile: optionOf(words, "--profile"),
    project: optionOf(words, "--project", "-p"),
    environment: optionOf(words, "--environment", "-e"),
  };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value));
  const connection = await readConnection(context.environment, given);
  const over = AbortSignal.timeout(WITHIN_MS);
  const session = new Session(
    connection,
    (url, { signal, ...init }) =>
      fetch(url, { ...init, signal: AbortSignal.any([over, ...(signal ? [signal] : [])]) }),
    0,
  );
  const path = await ownerPath(context, session, given);
  const { rows } = await session.list<NamedRecord>(kind.listPath, {
    path,
    query: { limit: 100 },
    limit: MAXIMUM_NAMES,
  });
  // A shell would write another name than this one.
  return rows.map(({ name }) => name).filter((name) => toPlainText(name) === name);
}

/** Of the last one, as a shell has split the words. */
function optionOf(words: readonly string[], ...options: readonly string[]): string | undefined {
  const at = words.findLastIndex((word, at) => options.includes(word) && at < words.length - 1);
  const [long = ""] = options;
  const joined = words.findLast((word) => word.startsWith(`${long}=`));
  return at >= 0 ? words[at + 1] : joined?.slice(long.length + 1);
}
