import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { NPM_SCOPE } from "../../../../src/lib/addresses.ts";
import { CliError } from "../errors.ts";
import type { CliContext } from "../session.ts";

const SERVER = `${NPM_SCOPE}/server`;
const PROGRAM = "dist/longshore-server.js";

/** `longshore serve`: the server, which is a package of its own and reads its arguments itself. */
export function addServeCommand(
  program: Command,
  context: CliContext,
  args: readonly string[] = [],
): void {
  program
    .command("serve")
    .description("run Longshore on this machine; see longshore serve --help")
    .usage("[--url URL] [--data DIR]")
    .action(async () => {
      const file = findServer(context);
      // The program replaces this process, so that signals reach it.
      process.argv.splice(1, process.argv.length, file, ...args);
      await load(file);
      context.exitCode = Number(process.exitCode ?? 0);
    });
}

/** Installed in this folder, or beside the command line. */
function findServer({ folder, program }: CliContext): string {
  for (const from of [join(folder, "package.json"), realpathSync(program)]) {
    try {
      return createRequire(from).resolve(`${SERVER}/${PROGRAM}`);
    } catch {
      // It is not there.
    }
  }
  throw new CliError(
    `The server is a package of its own. Install it: npm install --global ${SERVER}`,
  );
}

async function load(file: string): Promise<void> {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    const isOld =
      error instanceof Error && "code" in error && /UNKNOWN_BUILTIN/.test(String(error.code));
    if (!isOld) throw error;
    throw new CliError(`The server needs Node.js 22.13 or newer; this is ${process.version}.`);
  }
}
