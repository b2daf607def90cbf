import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../config-file.ts";
import { CliError } from "../errors.ts";
import type { CliContext } from "../session.ts";
import { type Answers, TOOL_NAMES } from "./answers.ts";
import { renderScript } from "./deploy-scripts.ts";
import { SCRIPT_FILE } from "./detect.ts";

const EXECUTABLE = 0o755;
const ANY_EXECUTE = 0o111;

/** Writes the script, unless there is one. Returns what the runner runs for each stack. */
export async function ensureScript(context: CliContext, answers: Answers): Promise<string> {
  const { tool, path, command } = answers;
  if (tool === "command") return command ?? "";
  const file = join(context.folder, SCRIPT_FILE);
  const script = await open(file, "wx", EXECUTABLE).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return undefined;
    throw notWritten(file, error);
  });
  if (script) {
    try {
      await script.writeFile(renderScript({ tool, path })).finally(() => script.close());
    } catch (error) {
      // The next run would take a part of the script for the user's own.
      await rm(file, { force: true });
      throw notWritten(file, error);
    }
    context.output.note(
      tool === "script"
        ? `Wrote ${SCRIPT_FILE}. It only prints what it gets: write the commands that deploy into it.`
        : `Wrote ${SCRIPT_FILE}, which calls ${TOOL_NAMES[tool]}. Read it before you start the runner.`,
    );
  } else {
    await requireExecutable(file);
    context.output.note(`Uses the ${SCRIPT_FILE} of this folder, and does not change it.`);
  }
  return `./${SCRIPT_FILE}`;
}

function notWritten(file: string, error: unknown): CliError {
  return new CliError(`Cannot write ${file}: ${reasonOf(error)}. Nothing was changed.`);
}

async function requireExecutable(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new CliError(`${file} is not a file. Nothing was changed.`);
  // Windows has no such mode.
  if (process.platform !== "win32" && !(found.mode & ANY_EXECUTE)) {
    throw new CliError(`${file} is not executable. Run: chmod +x ${SCRIPT_FILE}`);
  }
}
