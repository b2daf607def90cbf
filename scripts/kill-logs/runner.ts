import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/wrangler.ts";

const MAIN = join(ROOT, "packages/runner/src/main.ts");
const COMMAND = join(import.meta.dirname, "print-output.ts");
const NODE_OPTIONS = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
/** Of its messages, for an error. */
const KEPT_CHARACTERS = 2_000;

export interface RunnerSetup {
  url: string;
  token: string;
  /** For its token and its temporary files. */
  folder: string;
  /** Of the command that prints the output. */
  args: readonly (string | number)[];
}

/** The reference runner as a process of its own, for one deployment. */
export class RunnerProcess {
  /** The end of what it has printed. */
  output = "";
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor({ url, token, folder, args }: RunnerSetup) {
    const tokenFile = join(folder, "runner.token");
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    const command = [process.execPath, ...NODE_OPTIONS, COMMAND, ...args].join(" ");
    const options = ["--url", url, "--token-file", tokenFile, "--exec", command, "--once"];
    this.#child = spawn(process.execPath, [...NODE_OPTIONS, MAIN, ...options], {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output = (this.output + text).slice(-KEPT_CHARACTERS);
      });
    }
    this.exited = once(this.#child, "exit").then(([code]) => code);
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.exited;
  }
}
