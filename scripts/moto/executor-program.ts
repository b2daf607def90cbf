import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUNNER_PROGRAM } from "../lib/program-bundle.ts";

const PROGRAM = join(RUNNER_PROGRAM.folder, "executors/cloudformation.js");
const STACK_ID = "1Cg38jbq6cZAbs5tGiyPJx";

/** The program of the executor, started as by a runner. */
export class ExecutorProgram {
  readonly stackName = `longshore-${STACK_ID}`;
  readonly #folder: string;
  readonly #url: string;
  #child: ChildProcess | undefined;
  #deployments = 0;

  constructor(folder: string, url: string) {
    this.#folder = folder;
    this.#url = url;
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Each call is another deployment. */
  async deploy(template: object): Promise<{ status: number | null; log: string }> {
    this.#deployments += 1;
    const input = {
      deployment: { id: `d${this.#deployments}` },
      stack: { id: STACK_ID, name: "queues", outputs: {} },
      stacks: [],
      connection: {
        provider: "aws",
        account_id: "123456789012",
        region: "eu-central-1",
        role_arn: "arn:aws:iam::123456789012:role/deploy",
        external_id: "an-external-id",
      },
    };
    const settings = { template: this.#write("template.json", template) };
    const child = spawn(process.execPath, [PROGRAM], {
      env: {
        AWS_ACCESS_KEY_ID: "key",
        AWS_SECRET_ACCESS_KEY: "secret",
        AWS_ENDPOINT_URL: this.#url,
        LONGSHORE_INPUT_FILE: this.#write("input.json", input),
        LONGSHORE_SETTINGS_FILE: this.#write("settings.json", settings),
        LONGSHORE_REPORT_FILE: this.#write("report.jsonl", ""),
      } as unknown as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    let log = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
    }
    const [status] = await once(child, "close");
    return { status, log };
  }

  #write(name: string, content: object | string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }
}
