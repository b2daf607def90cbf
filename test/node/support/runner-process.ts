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

/** Appends the process group and the environment of a run to the file `runs`. */
const RECORD =
  'printf "%s|%s|%s|%s|%s|%s\\n" "$$" "$LONGSHORE_DEPLOYMENT" "$LONGSHORE_STACK" ' +
  '"$LONGSHORE_SOURCE" "$GREETING" "$LONGSHORE_RUNNER_TOKEN" >> runs';

/** A recorded run of the command. */
export interface Run {
  group: number;
  deployment: string;
  stack: string;
  source: string;
  greeting: string;
  token: string;
}

/** The reference runner, started as by `npm run runner` in its own folder. */
export class RunnerProcess {
  output = "";
  /** The exit code, or the signal that ended the process. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #folder = mkdtempSync(join(tmpdir(), "longshore-runner-"));
  readonly #child: ChildProcess;

  /** Runs `command` after recording the run. */
  constructor(url: string, token: string, command: string, flags: readonly string[] = []) {
    const exec = `${RECORD}; ${command}`;
    const node = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning", MAIN];
    this.#child = spawn(process.execPath, [...node, "--url", url, "--exec", exec, ...flags], {
      cwd: this.#folder,
      // A runner that gets SIGKILL leaves temporary files; they are deleted with the folder.
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

  /** The lines of a file that the command writes. */
  read(file: string): string[] {
    const path = join(this.#folder, file);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  }

  /** Creates a file that the command waits for. */
  make(file: string): void {
    writeFileSync(join(this.#folder, file), "");
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until the command has started this many times. */
  waitForRuns(times: number): Promise<void> {
    return this.waitForLines("runs", times);
  }

  /** Waits until the command has written this many lines to a file. */
  waitForLines(file: string, lines: number): Promise<void> {
    return this.#until(`${lines} ${file}`, () => this.read(file).length >= lines);
  }

  waitForOutput(text: string): Promise<void> {
    return this.#until(`"${text}"`, () => this.output.includes(text));
  }

  /** Process groups of the command that still have processes. */
  get leftovers(): number[] {
    return this.runs.map(({ group }) => group).filter((group) => signalGroup(group, 0));
  }

  /** Kills the runner and all processes of its commands. */
  async stop(): Promise<void> {
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
