import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import type { Output } from "../../../packages/runner/src/api-types.ts";
import { parseReportLine, type ResourceChange } from "../../../packages/runner/src/report-lines.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";

interface RunOptions {
  settings?: Readonly<Record<string, unknown>>;
  /** Members of the deployment in the input. */
  deployment?: Readonly<Record<string, unknown>>;
  /** Of the last success of the stack. */
  outputs?: Readonly<Record<string, string>>;
  environment?: NodeJS.Dict<string>;
}

export interface RunResult {
  status: number | null;
  log: string;
  resources: ResourceChange[];
  outputs: Record<string, string>;
  reason: string | undefined;
}

/** A checkout of a commit, in which the bundled program of an executor runs as a runner starts it. */
export class ExecutorCheckout {
  readonly #home = mkdtempSync(join(tmpdir(), "longshore-executor-"));
  readonly folder = join(this.#home, "checkout");
  readonly #program: string;

  constructor(name: string, files: Readonly<Record<string, string>>) {
    this.#program = join(ROOT, "packages/runner/dist/executors", `${name}.js`);
    for (const [file, content] of Object.entries(files)) this.write(file, content);
  }

  write(file: string, content: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  remove(): void {
    rmSync(this.#home, { recursive: true });
  }

  /** Starts the program in a process group of its own. */
  start({ settings = {}, deployment = {}, outputs = {}, environment = {} }: RunOptions = {}) {
    const files = mkdtempSync(join(this.#home, "stack-"));
    const path = (name: string) => join(files, name);
    const stack = { id: "1Cg5bWz8mKq3TnRv6HxPdY", name: "worker", outputs };
    const input = {
      deployment: { id: "1Cg5bWz8mKq3TnRv6HxPdZ", patch: [], trigger: "api", ...deployment },
      project: { id: "1Cg5bWz8mKq3TnRv6HxPdW", name: "shop" },
      environment: { id: "1Cg5bWz8mKq3TnRv6HxPdX", name: "production" },
      stack,
      stacks: [stack],
      configuration: {},
    };
    writeFileSync(path("input.json"), JSON.stringify(input));
    writeFileSync(path("settings.json"), JSON.stringify(settings));
    writeFileSync(path("report.ndjson"), "");
    const child = spawn(process.execPath, [this.#program], {
      cwd: this.folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        HOME: this.#home,
        LONGSHORE_INPUT_FILE: path("input.json"),
        LONGSHORE_SETTINGS_FILE: path("settings.json"),
        LONGSHORE_REPORT_FILE: path("report.ndjson"),
        ...environment,
      },
    });
    const ended = once(child, "close");
    const result = async (): Promise<RunResult> => {
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [status] = await ended;
      const report = readReport(path("report.ndjson"));
      return { status, log: stdout + stderr, ...report };
    };
    return { signal: (signal: NodeJS.Signals) => signalGroup(child.pid, signal), result: result() };
  }

  run(options: RunOptions = {}): Promise<RunResult> {
    return this.start(options).result;
  }
}

/** The processes may have ended. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-Number(pid), signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function readReport(file: string): Omit<RunResult, "status" | "log"> {
  const resources: ResourceChange[] = [];
  const outputs: Output[] = [];
  let reason: string | undefined;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const parsed = parseReportLine(Buffer.from(line));
    if (!parsed) continue;
    if ("resource" in parsed) resources.push(parsed.resource);
    else if ("resources" in parsed) resources.push(...parsed.resources);
    else if ("output" in parsed) outputs.push(parsed.output);
    else reason = parsed.status_reason;
  }
  const entries = outputs.map(({ name, value }) => [name, value]);
  return { resources, outputs: Object.fromEntries(entries), reason };
}
