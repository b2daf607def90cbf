import { realpathSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { CommandError } from "../../packages/server/src/command-error.ts";
import { HOW_TO_MIGRATE, isSchemaOutdated } from "../../src/db/schema-errors.ts";
import { canonicalId } from "../../src/lib/ids.ts";
import { resolveDrizzleOnce } from "./resolve-drizzle.ts";

export { CommandError } from "../../packages/server/src/command-error.ts";

const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC"]);

/** Whether Node runs this file, instead of another one that imports it. */
export function isProgram({ filename }: ImportMeta): boolean {
  const [, program] = process.argv;
  return program !== undefined && realpathSync(program) === filename;
}

/** Runs a command, which may load the tables, and sets the exit code of the process. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  resolveDrizzleOnce();
  try {
    process.exitCode = await command();
  } catch (error) {
    const known = error instanceof CommandError ? error : toCommandError(error);
    if (!known) throw error;
    console.error(known.message);
    process.exitCode = known.exitCode;
  }
}

/** A database that is not migrated, or a file or folder that cannot be written. */
function toCommandError(error: unknown): CommandError | undefined {
  if (isSchemaOutdated(error)) {
    return new CommandError(`The database lacks tables or columns. ${HOW_TO_MIGRATE}`);
  }
  if (!(error instanceof Error && "code" in error && "path" in error)) return undefined;
  if (!UNWRITABLE.has(String(error.code))) return undefined;
  return new CommandError(
    `Cannot write ${error.path} (${error.code}). Make it writable for this user, or use another folder.`,
  );
}

type OptionTypes = NonNullable<ParseArgsConfig["options"]>;

/** Reads arguments; throws a `CommandError` with the usage if they are wrong. */
export function readCommandLine<const Options extends OptionTypes>(
  options: Options,
  usage: string,
  args = process.argv.slice(2),
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${usage}`, 2);
  }
}

/** An ID in the form that the database stores. */
export function readId(text: string): string {
  const id = canonicalId(text);
  if (id === undefined) throw new CommandError(`"${text}" is not an ID.`, 2);
  return id;
}
