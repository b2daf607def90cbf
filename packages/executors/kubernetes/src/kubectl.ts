import {
  ProgramError,
  parsePrinted,
  readTool,
  runTool,
  type ToolOptions,
  type ToolResult,
} from "../../program/src/index.ts";

/** Apply sets of earlier versions have other annotations. */
const MINIMUM_MINOR = 29;
/** How a line begins that says what is wrong. */
const ERROR = /^error|^Error from|^Unable to connect|^The \S+ ".*" is invalid/;
const REQUEST_TIMEOUT = "--request-timeout=60s";

export interface Cluster {
  /** Undefined: the one that kubectl finds, such as that of the pod in which the runner runs. */
  context: string | undefined;
  namespace: string;
  /** Undefined: the configuration of the runner's user. */
  kubeconfig: string | undefined;
}

export interface Step extends ToolResult {
  /** The first line with what is wrong. */
  error: string | undefined;
}

/** The command line of Kubernetes, for one namespace of a cluster. */
export class Kubectl {
  readonly cluster: Cluster;
  /** Where nothing has a configuration, and where what kubectl keeps is removed. */
  readonly #folder: string;

  constructor(cluster: Cluster, folder: string) {
    this.cluster = cluster;
    this.#folder = folder;
  }

  /** Its errors are in the log. A request to stop does not end it. */
  async run(args: readonly string[], options: Pick<ToolOptions, "onLine"> = {}): Promise<Step> {
    return runKubectl(this.#complete([...args, REQUEST_TIMEOUT]), {
      ...this.#toolOptions,
      ...options,
    });
  }

  /** Ends when a signal does. */
  async follow(args: readonly string[], interrupt: AbortSignal): Promise<void> {
    if (interrupt.aborted) return;
    await runKubectl(this.#complete(args), { ...this.#toolOptions, interrupt });
  }

  /** What it prints as JSON; undefined if that is nothing. Throws a `ProgramError` if it fails. */
  async readJson(args: readonly string[], { hidesErrors = false } = {}): Promise<unknown> {
    const all = this.#complete([...args, "--output=json", REQUEST_TIMEOUT]);
    const text = await readTool("kubectl", all, {
      ...this.#toolOptions,
      hidesErrors,
      problem: "The cluster does not answer. The log says why.",
    });
    return text.trim() === "" ? undefined : parsePrinted(text);
  }

  #complete(args: readonly string[]): string[] {
    const { context, namespace, kubeconfig } = this.cluster;
    return [
      ...args,
      ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
      ...(context === undefined ? [] : [`--context=${context}`]),
      `--namespace=${namespace}`,
      `--cache-dir=${this.#folder}/kubectl-cache`,
    ];
  }

  get #toolOptions(): ToolOptions {
    // Apply sets are a feature that kubectl has only with this variable.
    return { folder: this.#folder, variables: { KUBECTL_APPLYSET: "true" } };
  }
}

async function runKubectl(args: readonly string[], options: ToolOptions): Promise<Step> {
  let error: string | undefined;
  const onErrorLine = (line: string) => {
    console.error(line);
    if (ERROR.test(line)) error ??= line;
  };
  return { ...(await runTool("kubectl", args, { ...options, onErrorLine })), error };
}

export async function requireVersion(folder: string): Promise<void> {
  const text = await readTool("kubectl", ["version", "--client", "--output=json"], {
    folder,
    problem: "kubectl does not run. The log says why.",
  });
  const { gitVersion = "", major, minor } = JSON.parse(text).clientVersion ?? {};
  console.log(`kubectl ${gitVersion}`);
  if (Number(major) === 1 && Number.parseInt(minor, 10) >= MINIMUM_MINOR) return;
  throw new ProgramError(
    `kubectl is older than 1.${MINIMUM_MINOR}. Update it on the runner's machine.`,
  );
}

/** Why a command has failed, for the reason of the stack. */
export function describeFailure(command: string, { code, error }: Step): string {
  if (error !== undefined) return `kubectl ${command}: ${error.replace(/^error: /, "")}`;
  return `kubectl ${command} ${code === null ? "was ended by a signal" : `ended with ${code}`}`;
}
