import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../../../scripts/lib/wrangler.ts";
import { toCalls } from "./recording.ts";

const FOLDER = join(ROOT, "test/programs/support/terraform");
const PROGRAM = join(ROOT, "packages/runner/dist/executors/terraform.js");
const NODE = `${process.execPath} --experimental-strip-types --disable-warning=ExperimentalWarning`;
const WITHIN_MS = 120_000;
const POLL_EVERY_MS = 20;

/** The path of the real program, if the tests run with it: `npm run test:terraform`. */
export const REAL_TOOL = process.env["LONGSHORE_TEST_TERRAFORM"];
const IS_RECORDING = process.env["LONGSHORE_TEST_TERRAFORM_RECORD"] === "1";

export const recordingOf = (name: string) => join(FOLDER, "recordings", `${name}.json`);

/** Writes a program `terraform` that replays a recording. `folder` gets the file `calls`. */
export function writeStandIn(path: string, recording: string, folder: string): void {
  const standIn = join(FOLDER, "stand-in.ts");
  const command = `exec ${NODE} ${standIn} ${recording} ${folder} "$@"`;
  // The runner does not pass it on. Without it, each call compiles the stand-in again.
  const cache = `export NODE_COMPILE_CACHE="${process.env["NODE_COMPILE_CACHE"] ?? ""}"`;
  writeFileSync(
    path,
    `#!/bin/sh\n[ "$1" = version ] && echo "Terraform v1.5.7" && exit\n${cache}\n${command}\n`,
    { mode: 0o755 },
  );
}

/** What a deployment has reported. IDs of resources are numbered: they differ in each run of the real program. */
export interface ModuleResult {
  code: number | null;
  /** The statuses of each resource while it changed. */
  changes: Record<string, string[]>;
  /** All resources at the end. Undefined: not reported. */
  resources: Record<string, string> | undefined;
  ids: Record<string, string>;
  outputs: Record<string, string>;
  reason: string | undefined;
  log: string;
}

type Values = Record<string, unknown>;

/** A module in a folder, which the bundle of the executor deploys several times. */
export class ModuleRun {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "longshore-terraform-")));
  readonly #name: string;
  readonly #ids = new Map<string, number>();
  readonly #lines: string;

  /** Of a recording. */
  constructor(name: string) {
    this.#name = name;
    this.#lines = join(this.root, "recorded");
    for (const each of ["bin", "module", "private"]) mkdirSync(join(this.root, each));
    const tool = join(this.root, "bin/terraform");
    if (REAL_TOOL === undefined) writeStandIn(tool, recordingOf(name), this.root);
    else {
      const recorder = `exec ${NODE} ${join(FOLDER, "recorder.ts")} ${this.#lines} ${REAL_TOOL} "$@"`;
      writeFileSync(
        tool,
        `#!/bin/sh\n[ "$1" = version ] && exec ${REAL_TOOL} version\n${recorder}\n`,
        { mode: 0o755 },
      );
    }
  }

  /** Other files by their paths. */
  write(content: string, others: Record<string, string> = {}): void {
    for (const [name, each] of Object.entries({ "main.tf": content, ...others })) {
      const path = join(this.root, "module", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, each);
    }
  }

  /** Applies the module without the executor, and so holds the lock of the state. Recordings have no such calls. */
  async applyElsewhere(settings: Values, options: readonly string[]): Promise<() => Promise<void>> {
    if (REAL_TOOL === undefined) return async () => undefined;
    const folder = join(this.root, "elsewhere");
    cpSync(join(this.root, "module"), folder, { recursive: true });
    const { path } = settings["backend"] as { path: string };
    const run = (...args: string[]) =>
      spawn(REAL_TOOL ?? "", args, { cwd: folder, stdio: "ignore" });
    await once(run("init", `-backend-config=path=${path}`), "close");
    const apply = run("apply", "-auto-approve", ...options);
    const lock = join(dirname(path), `.${basename(path)}.lock.info`);
    while (!existsSync(lock)) await sleep(POLL_EVERY_MS);
    return async () => {
      if (apply.exitCode === null) await once(apply, "close");
    };
  }

  /** Settings with a state that outlives the checkout. */
  settings(variables: Values = {}, others: Values = {}): Values {
    return { variables, backend: { path: join(this.root, "state/app.tfstate") }, ...others };
  }

  start(settings: Values, environment: NodeJS.Dict<string> = {}): StartedDeployment {
    return new StartedDeployment(this, settings, environment);
  }

  deploy(settings: Values, environment: NodeJS.Dict<string> = {}): Promise<ModuleResult> {
    return this.start(settings, environment).ended;
  }

  /** The calls of the stand-in. */
  get calls(): string[] {
    const path = join(this.root, "calls");
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
  }

  /** Such as `#1`. */
  numberOf(id: string): string {
    const number = this.#ids.get(id) ?? this.#ids.size + 1;
    this.#ids.set(id, number);
    return `#${number}`;
  }

  end(): void {
    if (IS_RECORDING && existsSync(this.#lines)) {
      const calls = toCalls(readFileSync(this.#lines, "utf8"), this.root);
      writeFileSync(recordingOf(this.#name), `${JSON.stringify({ calls }, null, 1)}\n`);
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** One run of the executor. */
export class StartedDeployment {
  readonly ended: Promise<ModuleResult>;
  readonly #module: ModuleRun;
  readonly #report: string;
  readonly #child: ChildProcess;
  #log = "";

  constructor(module: ModuleRun, settings: Values, environment: NodeJS.Dict<string>) {
    this.#module = module;
    const folder = mkdtempSync(join(module.root, "private/"));
    this.#report = join(folder, "report.jsonl");
    const write = (name: string, content: object) => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return join(folder, name);
    };
    writeFileSync(this.#report, "");
    this.#child = spawn(process.execPath, [PROGRAM], {
      cwd: join(module.root, "module"),
      env: {
        ...process.env,
        PATH: `${join(module.root, "bin")}:/usr/bin:/bin`,
        HOME: module.root,
        TF_CLI_CONFIG_FILE: undefined,
        LONGSHORE_INPUT_FILE: write("input.json", {}),
        LONGSHORE_SETTINGS_FILE: write("settings.json", settings),
        LONGSHORE_REPORT_FILE: this.#report,
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#log += text;
      });
    }
    this.ended = once(this.#child, "close").then(([code]) => this.#read(code));
  }

  /** Waits until the log, or the report, has the text. */
  async waitFor(text: string): Promise<void> {
    const deadline = performance.now() + WITHIN_MS;
    while (!`${this.#log}${readFileSync(this.#report, "utf8")}`.includes(text)) {
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`No "${text}" in:\n${this.#log}`);
      }
      await sleep(POLL_EVERY_MS);
    }
  }

  /** As the runner does for a program that ends its tools. */
  stop(): void {
    this.#child.kill("SIGTERM");
  }

  /** The program, and what it has started. */
  kill(): void {
    process.kill(-Number(this.#child.pid), "SIGKILL");
  }

  #read(code: number | null): ModuleResult {
    const result: ModuleResult = {
      code,
      changes: {},
      resources: undefined,
      ids: {},
      outputs: {},
      reason: undefined,
      log: this.#log,
    };
    for (const text of readFileSync(this.#report, "utf8").split("\n").filter(Boolean)) {
      const { resource, resources, output, status_reason: reason } = JSON.parse(text);
      if (resource) {
        result.changes[resource.template_id] ??= [];
        result.changes[resource.template_id]?.push(resource.status);
      }
      if (resources) result.resources = {};
      for (const { template_id: address, status, physical_id: id } of resources ?? []) {
        Object.assign(result.resources ?? {}, { [address]: status });
        if (id !== undefined) result.ids[address] = this.#module.numberOf(id);
      }
      if (output) result.outputs[output.name] = output.value;
      result.reason = reason ?? result.reason;
    }
    return result;
  }
}
