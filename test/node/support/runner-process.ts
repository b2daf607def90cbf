import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const MAIN = join(ROOT, "packages/runner/src/main.ts");
const POLL_EVERY_MS = 50;
const APPEARS_WITHIN_MS = 90_000;

/** Puts on record that it runs, under which process group, and with what in its environment. */
const RECORD =
  'printf "%s|%s|%s|%s|%s|%s\\n" "$$" "$LONGSHORE_DEPLOYMENT" "$LONGSHORE_STACK" ' +
  '"$LONGSHORE_SOURCE" "$GREETING" "$LONGSHORE_RUNNER_TOKEN" >> runs';

/** A run of the command. */
export interface Run {
  group: number;
  deployment: string;
  stack: string;
  source: string;
  greeting: string;
  token: string;
}

/** The reference runner, as `npm run runner` starts it, in a folder of its own. */
export class RunnerProcess {
  output = "";
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #folder = mkdtempSync(join(tmpdir(), "longshore-runner-"));
  readonly #child: ChildProcess;

  /** The command goes on after the record of its run. */
  constructor(url: string, token: string, command: string, flags: readonly string[] = []) {
    const exec = `${RECORD}; ${command}`;
    const node = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning", MAIN];
    this.#child = spawn(process.execPath, [...node, "--url", url, "--exec", exec, ...flags], {
      cwd: this.#folder,
      // A runner that is killed outright leaves its temporary files; they go with the folder.
      env: { ...process.env, LONGSHORE_RUNNER_TOKEN: token, TMPDIR: this.#folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.exited = once(this.#child, "exit").then(([code, signal]) => code ?? signal);
  }

  get runs(): Run[] {
    return this.read("runs").map((line) => {
      const [group, deployment = "", stack = "", source = "", greeting = "", token = ""] =
        line.split("|");
      return { group: Number(group), deployment, stack, source, greeting, token };
    });
  }

  /** The lines that the command has written to a file. */
  read(file: string): string[] {
    const path = join(this.#folder, file);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  }

  /** Makes a file that the command waits for. */
  make(file: string): void {
    writeFileSync(join(this.#folder, file), "");
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits for so many runs of the command to have begun. */
  hasRun(times: number): Promise<void> {
    return this.hasWritten("runs", times);
  }

  /** Waits for so many lines that the command writes to a file. */
  hasWritten(file: string, lines: number): Promise<void> {
    return this.#until(`${lines} ${file}`, () => this.read(file).length >= lines);
  }

  says(text: string): Promise<void> {
    return this.#until(`"${text}"`, () => this.output.includes(text));
  }

  /** Whether something of the command is still there. */
  get leftovers(): number[] {
    return this.runs.map(({ group }) => group).filter((group) => signalGroup(group, 0));
  }

  /** Ends it, and whatever it has left behind. */
  async clear(): Promise<void> {
    this.signal("SIGKILL");
    await this.exited;
    for (const group of this.leftovers) signalGroup(group, "SIGKILL");
    rmSync(this.#folder, { recursive: true });
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + APPEARS_WITHIN_MS;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`No ${what} from:\n${this.output}`);
      await sleep(POLL_EVERY_MS);
    }
  }
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
