import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const MAIN = join(ROOT, "packages/runner/src/main.ts");
const MOVABLE_CLOCK = join(ROOT, "test/node/support/movable-clock.ts");
const POLLING = { interval: 50, timeout: 90_000 };
/** The interval in which the runner counts signals as one. */
const SAME_SIGNAL_MS = 1_000;

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
    const types = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
    const node = [...types, "--import", MOVABLE_CLOCK, MAIN];
    this.#child = spawn(process.execPath, [...node, "--url", url, "--exec", exec, ...flags], {
      cwd: this.#folder,
      // A runner that gets SIGKILL leaves temporary files; they are deleted with the folder.
      env: { ...process.env, LONGSHORE_RUNNER_TOKEN: token, TMPDIR: this.#folder },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
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

  /** Moves the clock ahead, so that the next signal does not count as the same as the last. */
  async passSameSignal(): Promise<void> {
    const moved = once(this.#child, "message");
    this.#child.send(SAME_SIGNAL_MS);
    await moved;
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

  /** Waits until killed processes are gone. Init collects those whose parent has exited. */
  waitForNoLeftovers(): Promise<void> {
    return this.#until("end of the commands", () => this.leftovers.length === 0);
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
    await vi.waitUntil(holds, POLLING).catch(() => {
      throw new Error(`No ${what} from:\n${this.output}`);
    });
  }
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
