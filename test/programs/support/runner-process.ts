import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { RUNNER_PROGRAM } from "../../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const MAIN = join(RUNNER_PROGRAM.folder, RUNNER_PROGRAM.fileName);
const MOVABLE_CLOCK = join(ROOT, "test/programs/support/movable-clock.ts");
const POLLING = { interval: 50, timeout: 300_000 };
/** The interval in which the runner counts signals as one. */
const SAME_SIGNAL_MS = 1_000;

/** Appends the process group and the environment of a run to the file `runs`. */
const RECORD =
  'printf "%s|%s|%s|%s|%s\\n" "$$" "$LONGSHORE_DEPLOYMENT" "$LONGSHORE_STACK" ' +
  '"$LONGSHORE_SOURCE" "$GREETING" >> runs';

/** A recorded run of the command. */
export interface Run {
  group: number;
  deployment: string;
  stack: string;
  source: string;
  greeting: string;
}

interface RunnerSetup {
  url: string;
  token: string;
  /** Undefined: the runner gets no `--exec`. */
  command?: string | undefined;
  flags?: readonly string[];
  /** Added to the runner's environment. */
  environment?: NodeJS.Dict<string>;
}

/** A descriptor above those that Node closes in the programs that it starts. */
const HIGH_DESCRIPTOR = 40;

/** The bundle of the reference runner, started in a folder of its own. */
export class RunnerProcess {
  output = "";
  /** The exit code, or the signal that ended the process. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** The working directory, and that of temporary files. */
  readonly folder = mkdtempSync(join(tmpdir(), "longshore-runner-"));
  readonly #child: ChildProcess;

  /**
   * Runs `command` after recording the run. The runner also has the file of its token on a descriptor
   * that it is not told of, and with `--token-fd`, as its standard input.
   */
  constructor({ url, token, command, flags = [], environment = {} }: RunnerSetup) {
    const exec = command === undefined ? [] : ["--exec", `${RECORD}; ${command}`];
    const tokenFile = join(this.folder, "runner.token");
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    const descriptor = openSync(tokenFile, "r");
    const readsStdin = flags.includes("--token-fd");
    const hasOwnSource = readsStdin || flags.includes("--oidc-org");
    const source = hasOwnSource ? [] : ["--token-file", tokenFile];
    const stdio: StdioOptions = [readsStdin ? descriptor : "ignore", "pipe", "pipe", "ipc"];
    stdio[HIGH_DESCRIPTOR] = descriptor;
    const types = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
    const node = [...types, "--import", MOVABLE_CLOCK, MAIN];
    const args = [...node, "--url", url, ...exec, ...source, ...flags];
    this.#child = spawn(process.execPath, args, {
      cwd: this.folder,
      // A runner that gets SIGKILL leaves temporary files; they are deleted with the folder.
      env: { ...process.env, TMPDIR: this.folder, ...environment },
      stdio: Array.from(stdio, (each) => each ?? "ignore"),
    });
    closeSync(descriptor);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    this.exited = once(this.#child, "exit").then(([code, signal]) => code ?? signal);
  }

  get runs(): Run[] {
    return this.read("runs").map((line) => {
      const [group, deployment = "", stack = "", source = "", greeting = ""] = line.split("|");
      return { group: Number(group), deployment, stack, source, greeting };
    });
  }

  /** The lines of a file that the command writes. */
  read(file: string): string[] {
    const path = join(this.folder, file);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  }

  /** Creates a file that the command waits for. */
  make(file: string): void {
    writeFileSync(join(this.folder, file), "");
  }

  /** From now on, nobody reads the standard output of the runner. */
  stopReading(): void {
    this.#child.stdout?.pause();
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
    rmSync(this.folder, { recursive: true });
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
