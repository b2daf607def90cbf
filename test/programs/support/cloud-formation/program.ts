import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReportedResource } from "../../../../packages/runner/src/api-types.ts";
import { parseReportLine } from "../../../../packages/runner/src/report-lines.ts";
import { RUNNER_PROGRAM } from "../../../../scripts/lib/program-bundle.ts";
import { CloudFormationApi } from "./api.ts";

const PROGRAM = join(RUNNER_PROGRAM.folder, "executors/cloudformation.js");
export const ROLE = "arn:aws:iam::123456789012:role/deploy";
const EXTERNAL_ID = "1CgAnExternalId";
const STACK_ID = "1Cg38jbq6cZAbs5tGiyPJx";
/** The stack of CloudFormation that it has by default. */
export const STACK_NAME = `longshore-${STACK_ID}`;

export interface RunResult {
  status: number | null;
  /** Both outputs. */
  log: string;
  /** The statuses of each resource, in the order in which they were reported. */
  changes: Record<string, string[]>;
  /** The last list of all resources. */
  resources: Partial<ReportedResource>[] | undefined;
  outputs: Record<string, string>;
  reason: string | undefined;
}

/** The program of the executor, as a runner starts it, with a stand-in of AWS. */
export class ProgramHarness {
  readonly api: CloudFormationApi;
  connection: object = {
    provider: "aws",
    account_id: "123456789012",
    region: "eu-central-1",
    role_arn: ROLE,
    external_id: EXTERNAL_ID,
  };
  /** Instead of the variables that lead to the stand-in. */
  environment: NodeJS.Dict<string>;
  child: ChildProcess | undefined;
  #deployments = 0;
  readonly #folder = mkdtempSync(join(tmpdir(), "longshore-cloudformation-"));

  private constructor(api: CloudFormationApi) {
    this.api = api;
    this.environment = api.environment;
  }

  static async start(): Promise<ProgramHarness> {
    const api = await CloudFormationApi.start();
    api.roles.set(ROLE, EXTERNAL_ID);
    return new ProgramHarness(api);
  }

  async stop(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
    await this.api.stop();
  }

  /** Runs the next deployment to its end. */
  async deploy(template: object | string, settings: object = {}): Promise<RunResult> {
    this.#deployments += 1;
    return this.run(`d${this.#deployments}`, template, settings);
  }

  async run(deploymentId: string, template: object | string, settings: object = {}) {
    const path = (name: string) => join(this.#folder, name);
    const write = (name: string, content: unknown) => {
      writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
      return path(name);
    };
    const report = write("report.jsonl", "");
    const input = {
      deployment: { id: deploymentId },
      project: { id: "p1", name: "shop" },
      environment: { id: "e1", name: "production" },
      stack: { id: STACK_ID, name: "api", outputs: {} },
      stacks: [],
      connection: this.connection,
    };
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        HOME: this.#folder,
        ...this.environment,
        LONGSHORE_INPUT_FILE: write("input.json", input),
        LONGSHORE_SETTINGS_FILE: write("settings.json", {
          template: write("template", template),
          ...settings,
        }),
        LONGSHORE_REPORT_FILE: report,
      } as unknown as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    let log = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
    }
    const [status] = await once(child, "close");
    return { status, log, ...readReport(readFileSync(report, "utf8")) } as RunResult;
  }
}

function readReport(text: string): Omit<RunResult, "status" | "log"> {
  const found: Omit<RunResult, "status" | "log"> = {
    changes: {},
    resources: undefined,
    outputs: {},
    reason: undefined,
  };
  for (const each of text.split("\n")) {
    const line = parseReportLine(Buffer.from(each));
    if (!line) continue;
    if ("resource" in line) {
      const { template_id: id, status } = line.resource;
      found.changes[id] = [...(found.changes[id] ?? []), status];
    } else if ("resources" in line) found.resources = line.resources;
    else if ("output" in line) found.outputs[line.output.name] = line.output.value;
    else found.reason = line.status_reason;
  }
  return found;
}
