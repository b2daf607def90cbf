import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

const MAIN = join(ROOT, "packages/action/dist/index.js");
const POLLING = { interval: 50, timeout: 300_000 };

/** A command that GitHub would obey. */
export interface WorkflowCommand {
  name: string;
  text: string;
}

/** One step of a job of GitHub that uses the action. */
export class ActionStep {
  readonly #folder = mkdtempSync(join(tmpdir(), "longshore-action-"));
  readonly #environment: NodeJS.Dict<string>;
  #child: ChildProcess | undefined;
  log = "";

  constructor(inputs: Record<string, string>, environment: NodeJS.Dict<string> = {}) {
    const given = Object.entries(inputs).map(([name, text]) => [
      `INPUT_${name.toUpperCase()}`,
      text,
    ]);
    this.#environment = {
      PATH: process.env["PATH"],
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "octo-org/octo-repo",
      GITHUB_RUN_ID: "4711",
      GITHUB_RUN_ATTEMPT: "1",
      GITHUB_JOB: "deploy",
      GITHUB_ACTION: "__longshore_longshore",
      GITHUB_OUTPUT: this.#makeFile(`set_output_${randomUUID()}`),
      GITHUB_STEP_SUMMARY: this.#makeFile(`step_summary_${randomUUID()}`),
      ...Object.fromEntries(given),
      ...environment,
    };
  }

  #makeFile(name: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, "");
    return path;
  }

  /** Starts the process, and returns its exit code. */
  async run(changes: NodeJS.Dict<string> = {}): Promise<number | null> {
    const child = spawn(process.execPath, [MAIN], {
      cwd: this.#folder,
      env: { ...this.#environment, ...changes } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
      });
    }
    const [code] = await once(child, "close");
    return code;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async waitForLog(text: string): Promise<void> {
    await vi
      .waitUntil(() => this.log.includes(text), POLLING)
      .catch(() => {
        throw new Error(`No "${text}" in:\n${this.log}`);
      });
  }

  get outputs(): Record<string, string> {
    const lines = this.#read("GITHUB_OUTPUT").split("\n").slice(0, -1);
    return Object.fromEntries(lines.map((line) => /^([^=]+)=(.*)$/.exec(line)?.slice(1) ?? [line]));
  }

  get summary(): string {
    return this.#read("GITHUB_STEP_SUMMARY");
  }

  /** What GitHub would obey: actions/runner, ActionCommand.cs. */
  get commands(): WorkflowCommand[] {
    return this.log.split(/\r\n|\r|\n/).flatMap((line) => {
      const [, command, message] = /^\s*::([\w-]+)[^:]*(?::(?!:)[^:]*)*::(.*)$/.exec(line) ?? [];
      if (command !== undefined) return [{ name: command, text: String(message) }];
      const [, old, data] = /##\[([\w-]+)[^\]]*\](.*)$/.exec(line) ?? [];
      return old === undefined ? [] : [{ name: old, text: String(data) }];
    });
  }

  /** The messages of the annotations, as GitHub shows them. */
  annotations(level: "error" | "warning" | "notice"): string[] {
    const found = this.commands.filter(({ name }) => name === level);
    return found.map(({ text }) => {
      return text.replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%25", "%");
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #read(variable: string): string {
    const path = this.#environment[variable] ?? "";
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }
}
