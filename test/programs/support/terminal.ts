import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_EVERY_MS = 50;
const APPEARS_WITHIN_MS = 300_000;
const DONE = /<done (\d+)>\n$/;

/** A shell in a folder, which runs commands one after the other. */
export class Terminal {
  /** What was printed since the last command was started. */
  output = "";
  /** The commands, each in a file, so that they do not read the shell's own input. */
  readonly #files = mkdtempSync(join(tmpdir(), "longshore-terminal-"));
  readonly #shell: ChildProcess;
  readonly #exited: Promise<unknown>;
  #commands = 0;

  constructor(
    folder: string,
    environment: NodeJS.Dict<string> = {},
    identity: { uid?: number; gid?: number } = {},
  ) {
    chmodSync(this.#files, 0o755);
    this.#shell = spawn("sh", [], {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "ignore"],
      // In its own process group, which Ctrl-C reaches as a whole.
      detached: true,
      ...identity,
    });
    this.#exited = once(this.#shell, "exit");
    // One pipe for both outputs, so that they arrive in the order in which they were written. Ctrl-C ends
    // the running command, but not the shell.
    this.#shell.stdin?.write("exec 2>&1\ntrap : INT\n");
    this.#shell.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
    });
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
    const file = join(this.#files, String(this.#commands));
    writeFileSync(file, commands, { mode: 0o644 });
    this.#shell.stdin?.write(`. ${file} </dev/null; echo "<done $?>"\n`);
  }

  waitForOutput(text: string): Promise<void> {
    return this.#waitUntil(`"${text}"`, () => this.output.includes(text));
  }

  /** Presses Ctrl-C, and waits until the running command and the shell have ended. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    this.#shell.stdin?.end();
    await this.#exited;
    rmSync(this.#files, { recursive: true, force: true });
  }

  /** Kills the shell and its commands. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#exited;
    rmSync(this.#files, { recursive: true, force: true });
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
      const hasEnded = DONE.test(this.output) || this.#shell.exitCode !== null;
      if (hasEnded || performance.now() > deadline) {
        throw new Error(`No ${what} in:\n${this.output}`);
      }
      await sleep(POLL_EVERY_MS);
    }
  }
}
