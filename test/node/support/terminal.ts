import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_EVERY_MS = 50;
const APPEARS_WITHIN_MS = 100_000;
const DONE = /<done (\d+)>\n$/;

/** A shell in a folder, which runs commands one after the other. */
export class Terminal {
  /** What was printed since the last command was started. */
  output = "";
  readonly #folder: string;
  readonly #shell: ChildProcess;
  readonly #exited: Promise<unknown>;
  #commands = 0;

  constructor(folder: string, environment: NodeJS.Dict<string> = {}) {
    this.#folder = folder;
    this.#shell = spawn("sh", [], {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
      // In its own process group, which Ctrl-C reaches as a whole.
      detached: true,
    });
    this.#exited = once(this.#shell, "exit");
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
  }

  /** Runs shell commands to their end. Returns what they print, and the status of the last one. */
  async run(commands: string): Promise<{ output: string; status: number }> {
    this.start(commands);
    await this.#waitUntil("end", () => DONE.test(this.output));
    const [, status] = DONE.exec(this.output) ?? [];
    return { output: this.output.replace(DONE, ""), status: Number(status) };
  }

  /** Starts shell commands without waiting for their end. */
  start(commands: string): void {
    this.output = "";
    this.#commands += 1;
    const file = join(this.#folder, `.terminal-${this.#shell.pid}-${this.#commands}`);
    writeFileSync(file, commands);
    this.#shell.stdin?.write(`. ${file} </dev/null; echo "<done $?>"\n`);
  }

  waitForOutput(text: string): Promise<void> {
    return this.#waitUntil(`"${text}"`, () => this.output.includes(text));
  }

  /** Presses Ctrl-C, and waits until the shell and its commands have ended. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await this.#exited;
  }

  /** Kills the shell and its commands. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#exited;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-Number(this.#shell.pid), signal);
    } catch {
      // Every process has ended.
    }
  }

  async #waitUntil(what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + APPEARS_WITHIN_MS;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`No ${what} in:\n${this.output}`);
      await sleep(POLL_EVERY_MS);
    }
  }
}
