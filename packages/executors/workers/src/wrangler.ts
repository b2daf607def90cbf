import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ProgramError, runTool } from "../../program/src/index.ts";

const QUIET = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };

/** What wrangler writes to the file of WRANGLER_OUTPUT_FILE_PATH, of which each command gets a new one. */
interface OutputLine {
  type: string;
  worker_name?: string | null;
  version_id?: string | null;
  /** Routes and other triggers, as texts for people. */
  targets?: string[];
  message?: string;
}

export interface CommandOutput {
  lines: readonly string[];
  entries: readonly OutputLine[];
}

/** Runs the wrangler of the PATH: a checkout has none. */
export class Wrangler {
  readonly #options: readonly string[];
  readonly #folder: string;
  readonly #outputFile: string;

  /** @param options Each with its value in one argument, so that no value becomes an option. */
  constructor(options: readonly string[], { folder, files }: { folder: string; files: string }) {
    this.#options = options;
    this.#folder = folder;
    this.#outputFile = join(files, "wrangler.ndjson");
  }

  /** Shows in the log what the command prints. Throws a `ProgramError` with its error. */
  async run(command: readonly string[], options: readonly string[] = []): Promise<CommandOutput> {
    const lines: string[] = [];
    const { code, entries } = await this.#start([...command, ...options], (line) => {
      lines.push(line);
      console.log(line);
    });
    if (code === 0) return { lines, entries };
    const message = entries.findLast(({ type }) => type === "command-failed")?.message;
    const ended = code === null ? "was ended by a signal" : `ended with ${code}`;
    throw new ProgramError(
      `wrangler ${command.join(" ")} ${ended}${message ? `: ${message}` : ". The log says why."}`,
    );
  }

  /** What a command with `--json` prints; undefined if it fails, or prints something else. */
  async read(command: readonly string[]): Promise<unknown> {
    const lines: string[] = [];
    const onLine = (line: string) => lines.push(line);
    try {
      const { code } = await this.#start([...command, "--json"], onLine, true);
      return code === 0 ? JSON.parse(lines.join("\n")) : undefined;
    } catch {
      return undefined;
    }
  }

  async #start(args: readonly string[], onLine: (line: string) => void, hidesErrors = false) {
    rmSync(this.#outputFile, { force: true });
    const { code } = await runTool("wrangler", [...args, ...this.#options], {
      folder: this.#folder,
      variables: { ...QUIET, WRANGLER_OUTPUT_FILE_PATH: this.#outputFile },
      onLine,
      hidesErrors,
    });
    return { code, entries: readEntries(this.#outputFile) };
  }
}

/** A process that is killed may leave a part of a line. */
function readEntries(file: string): OutputLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}
