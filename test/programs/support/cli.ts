import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { runProgram } from "../../../packages/cli/src/program.ts";
import { CLI_PROGRAM } from "../../../scripts/lib/program-bundle.ts";
import type { DeployedEnvironment } from "./deployed-environment.ts";
import type { ApiClient } from "./service.ts";

/** The bundle, which starts in half of the time of its source. */
const MAIN = join(CLI_PROGRAM.folder, CLI_PROGRAM.fileName);

/** The commands that start or are a program of their own, with the streams and signals of the process. */
const OF_PROCESS = ["run", "runner"];

interface Given {
  input?: string;
  changes?: NodeJS.Dict<string>;
  /** Default: the folder of the user. */
  folder?: string;
  /** The user ID. Default: that of the test. */
  userId?: number;
  /** What has started it. Default: a command on the PATH. */
  program?: string;
}

interface Question {
  /** A part of what it prints. */
  text: string;
  /** Called while the question is open. Returns the keys that are pressed then. */
  answer(): Promise<string>;
}

interface Ended {
  stdout: string;
  stderr: string;
  /** Null if a signal has ended the process. */
  status: number | null;
}

/** The command to start for `longshore` with these arguments. */
export function cliCommand(args: readonly string[]): [command: string, args: string[]] {
  return [process.execPath, [MAIN, ...args]];
}

/** A user of the command line: a folder, a home for settings, and environment variables. */
export class CliUser {
  readonly folder = mkdtempSync(join(tmpdir(), "longshore-cli-"));
  readonly #environment: NodeJS.Dict<string>;

  constructor(environment: NodeJS.Dict<string> = {}) {
    this.#environment = environment;
  }

  /** A user with this address and key, until the test finishes. */
  static of(
    { url, key }: Pick<ApiClient, "url" | "key">,
    others: NodeJS.Dict<string> = {},
  ): CliUser {
    const user = new CliUser({ LONGSHORE_URL: url.origin, LONGSHORE_API_KEY: key, ...others });
    onTestFinished(() => user.remove());
    return user;
  }

  /** A user whose link is this environment. */
  static async in(
    { apiKey: key, projectId }: Pick<DeployedEnvironment, "apiKey" | "projectId">,
    url: URL,
  ): Promise<CliUser> {
    const user = CliUser.of({ url, key });
    await user.link({ project: projectId, environment: "staging" });
    return user;
  }

  /** What the command line finds in `process.env`. */
  environment(changes: NodeJS.Dict<string> = {}) {
    return {
      ...process.env,
      LONGSHORE_URL: undefined,
      LONGSHORE_API_KEY: undefined,
      npm_lifecycle_event: undefined,
      LONGSHORE_CONFIG_DIR: join(this.folder, "config"),
      ...this.#environment,
      ...changes,
    };
  }

  /** Writes the link of the folder, as its user. */
  async link(link: { project: string; environment: string }): Promise<void> {
    writeFileSync(join(this.folder, ".longshore.json"), JSON.stringify(link));
    const { stderr, status } = await this.run(["link", "--confirm"]);
    if (status !== 0) throw new Error(stderr);
  }

  /** Runs `longshore` to its end in the process of the test, without a terminal. */
  run(args: readonly string[], given: Given = {}): Promise<Ended> {
    const stdin = new PassThrough();
    stdin.end(given.input ?? "");
    return this.#run(args, { stdin, stderr: new PassThrough() }, given);
  }

  /** Runs it so in a terminal, where it asks questions, in this order. */
  runAsked(args: readonly string[], ...questions: readonly Question[]): Promise<Ended> {
    return this.runAskedIn(this.folder, args, ...questions);
  }

  runAskedIn(
    folder: string,
    args: readonly string[],
    ...questions: readonly Question[]
  ): Promise<Ended> {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    const open = [...questions];
    let printed = "";
    const onPrinted = async (chunk: Buffer) => {
      printed += chunk;
      const [question] = open;
      if (!question || !printed.includes(question.text)) return;
      open.shift();
      printed = "";
      stdin.write(await question.answer());
    };
    stderr.on("data", onPrinted);
    return this.#run(args, { stdin, stderr }, { folder });
  }

  async #run(
    args: readonly string[],
    { stdin, stderr }: { stdin: PassThrough; stderr: PassThrough },
    {
      changes,
      folder = this.folder,
      userId = process.getuid?.(),
      program = "/usr/bin/longshore",
    }: Given = {},
  ): Promise<Ended> {
    if (args.some((each) => OF_PROCESS.includes(each))) {
      throw new Error("This command uses the process itself: call runProcess.");
    }
    const stdout = new PassThrough();
    const printed = Promise.all([text(stdout), text(stderr)]);
    const signals = new EventEmitter();
    const status = await runProgram(args, {
      env: this.environment(changes),
      argv: ["node", program],
      stdin,
      stdout,
      stderr,
      cwd: () => folder,
      ...(userId !== undefined && { getuid: () => userId }),
      exit: () => {
        throw new Error("The streams of a test have no errors.");
      },
      on: (signal, listener) => signals.on(signal, listener),
      off: (signal, listener) => signals.off(signal, listener),
    });
    // A write after the end of the command is an error, which the listener of the output would hide.
    for (const stream of [stdout, stderr]) stream.removeAllListeners("error").end();
    const [out, err] = await printed;
    return { stdout: out, stderr: err, status };
  }

  /** Runs `longshore` to its end as a program, without a terminal. */
  async runProcess(args: readonly string[], given: Given = {}): Promise<Ended> {
    const [command, all] = cliCommand(args);
    const child = spawn(command, all, {
      cwd: given.folder ?? this.folder,
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
