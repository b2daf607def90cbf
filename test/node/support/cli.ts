import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const MAIN = join(ROOT, "packages/cli/src/main.ts");
const NODE_OPTIONS = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];

/** The command to start for `longshore` with these arguments. */
export function cliCommand(args: readonly string[]): [command: string, args: string[]] {
  return [process.execPath, [...NODE_OPTIONS, MAIN, ...args]];
}

/** A user of the command line: a folder, a home for settings, and environment variables. */
export class CliUser {
  readonly folder = mkdtempSync(join(tmpdir(), "longshore-cli-"));
  readonly #environment: NodeJS.Dict<string>;

  constructor(environment: NodeJS.Dict<string> = {}) {
    this.#environment = environment;
  }

  /** What the command line finds in `process.env`. */
  environment(changes: NodeJS.Dict<string> = {}) {
    return {
      ...process.env,
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
      LONGSHORE_CONFIG_DIR: join(this.folder, "config"),
      ...this.#environment,
      ...changes,
    };
  }

  /** Runs `longshore` to its end, without a terminal. */
  async run(
    args: readonly string[],
    given: { input?: string; changes?: NodeJS.Dict<string> } = {},
  ) {
    const [command, all] = cliCommand(args);
    const child = spawn(command, all, {
      cwd: this.folder,
      env: this.environment(given.changes),
      stdio: ["pipe", "pipe", "pipe"],
    });
    // A command that reads no input may end before all of it is written.
    child.stdin.on("error", () => undefined);
    child.stdin.end(given.input ?? "");
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { stdout, stderr, status: status as number | null };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
