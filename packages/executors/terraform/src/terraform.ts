import { ProgramError, readTool, runTool, type ToolOptions } from "../../program/src/index.ts";
import type { ApplyProgress } from "./apply-progress.ts";
import type { Files } from "./files.ts";
import { describeLock, type LockHolder, readLockHolder } from "./state-lock.ts";

/** The first one on the PATH is used. */
const TOOLS = ["tofu", "terraform"];
const AT_ONCE = "0s";
/** Of `plan -detailed-exitcode`. */
const HAS_CHANGES = 2;

interface TerraformOptions {
  /** Of the module. */
  folder: string;
  files: Files;
  /** The deployment's variables for the module, `TF_VAR_…`. */
  variables: Readonly<Record<string, string>>;
  lockTimeout: string;
  stop: AbortSignal;
}

interface Step {
  code: number | null;
  /** Of the lock that could not be had. Nothing has been done. */
  holder: LockHolder | undefined;
  error: string | undefined;
}

/** OpenTofu or Terraform, in the folder of a module. */
export class Terraform {
  readonly #tool: string;
  readonly #options: TerraformOptions;
  readonly #toolOptions: ToolOptions;

  private constructor(tool: string, options: TerraformOptions) {
    this.#tool = tool;
    this.#options = options;
    this.#toolOptions = { ...describeOptions(options), interrupt: options.stop };
  }

  static async find(options: TerraformOptions): Promise<Terraform> {
    for (const tool of TOOLS) {
      const version = await readVersion(tool, describeOptions(options));
      if (version === undefined) continue;
      console.log(version);
      return new Terraform(tool, options);
    }
    throw new ProgramError(
      `Neither ${TOOLS.join(" nor ")} is on the runner's PATH. Install one of them.`,
    );
  }

  async initialize(workspace: string | undefined): Promise<void> {
    const { backend } = this.#options.files;
    const args = ["init", "-input=false", "-no-color"];
    await this.#runStep(backend ? [...args, `-backend-config=${backend}`] : args);
    if (workspace === undefined) return;
    // It would be used instead of the selected one.
    delete process.env["TF_WORKSPACE"];
    await this.#runStep(["workspace", "select", "-no-color", "-or-create=true", workspace]);
  }

  /** Prints the plan. Returns whether it has changes. */
  async plan({ destroy }: { destroy: boolean }): Promise<boolean> {
    const { variables, plan } = this.#options.files;
    const args = ["plan", "-input=false", "-no-color", "-detailed-exitcode"];
    if (destroy) args.push("-destroy");
    args.push(`-out=${plan}`, `-var-file=${variables}`);
    const { code, error } = await this.#waitForLock(async (lockTimeout) => {
      const { code, errors } = await this.#runInText([...args, lockTimeout]);
      const holder = readLockHolder(errors);
      if (!holder && errors !== "") console.error(errors);
      return { code, holder, error: summarize(errors) };
    });
    if (code === 0) return false;
    if (code === HAS_CHANGES) return true;
    throw this.#failure("plan", code, error);
  }

  /** Exactly what `plan` has printed. */
  async apply(progress: ApplyProgress): Promise<void> {
    const args = ["apply", "-input=false", "-json"];
    const { code, error } = await this.#waitForLock(async (lockTimeout) => {
      progress.start();
      const onLine = (line: string) => progress.read(line);
      const { code } = await this.#run([...args, lockTimeout, this.#options.files.plan], {
        onLine,
      });
      return { code, holder: progress.lockHolder, error: progress.firstError };
    });
    if (code !== 0) throw this.#failure("apply", code, error);
  }

  /** The state as JSON, with its secrets. Also after a request to stop. */
  show(): Promise<string> {
    return readTool(this.#tool, ["show", "-json", "-no-color"], {
      ...describeOptions(this.#options),
      problem: `${this.#tool} show cannot read the state. The log says why.`,
    });
  }

  async #runStep(args: readonly string[]): Promise<void> {
    const { code, errors } = await this.#runInText(args);
    if (errors !== "") console.error(errors);
    if (code !== 0) throw this.#failure(String(args[0]), code, summarize(errors));
  }

  /** Returns what it prints to standard error, which is not in the log. */
  async #runInText(args: readonly string[]): Promise<{ code: number | null; errors: string }> {
    const errors: string[] = [];
    const onErrorLine = (line: string) => errors.push(line);
    const { code } = await this.#run(args, { onErrorLine });
    return { code, errors: errors.join("\n") };
  }

  async #run(args: readonly string[], options: ToolOptions) {
    if (this.#options.stop.aborted) throw this.#failure(String(args[0]), null);
    return runTool(this.#tool, args, { ...this.#toolOptions, ...options });
  }

  /** Tries at once, to learn who holds the lock, and then for as long as it may wait. */
  async #waitForLock(run: (lockTimeout: string) => Promise<Step>): Promise<Step> {
    const { lockTimeout } = this.#options;
    const first = await run(`-lock-timeout=${AT_ONCE}`);
    if (!first.holder) return first;
    console.log(`${describeLock(first.holder)} Waiting ${lockTimeout} for it at most.`);
    const second = await run(`-lock-timeout=${lockTimeout}`);
    if (!second.holder || this.#options.stop.aborted) return second;
    throw new ProgramError(
      `${describeLock(second.holder)} If nothing works on it anymore, release it with ` +
        `${this.#tool} force-unlock, and deploy again.`,
    );
  }

  #failure(step: string, code: number | null, error?: string): ProgramError {
    const what = `${this.#tool} ${step}`;
    if (this.#options.stop.aborted) {
      return new ProgramError(
        `${what} was stopped${step === "apply" ? "." : " before anything changed."}`,
      );
    }
    const how = code === null ? "was ended by a signal" : `ended with ${code}`;
    return new ProgramError(error ? `${what}: ${error}` : `${what} ${how}. The log says why.`);
  }
}

function describeOptions({ folder, files, variables: given }: TerraformOptions): ToolOptions {
  const variables = {
    ...given,
    TF_IN_AUTOMATION: "1",
    TF_INPUT: "0",
    TF_DATA_DIR: files.data,
    CHECKPOINT_DISABLE: "1",
  };
  return { folder, variables };
}

/** The first error of a text for people. */
function summarize(errors: string): string | undefined {
  const [, summary] = /^Error: (.*)$/m.exec(errors) ?? [];
  return summary && `${summary}${/[.!?]$/.test(summary) ? "" : "."} The log says more.`;
}

/** Undefined: it cannot be started. */
async function readVersion(tool: string, options: ToolOptions): Promise<string | undefined> {
  const lines: string[] = [];
  const result = await runTool(tool, ["version"], {
    ...options,
    onLine: (line) => lines.push(line),
  }).catch((error) => {
    if (!(error instanceof ProgramError)) throw error;
  });
  if (!result) return undefined;
  if (result.code !== 0) throw new ProgramError(`${tool} version fails. The log says why.`);
  return lines[0] ?? tool;
}
