import type { Kubectl, Step } from "./kubectl.ts";
import { addLabels } from "./manifests.ts";
import { type KubernetesObject, toObjects } from "./objects.ts";

const PREFIX = "applyset.kubernetes.io";
/** Of the parent: who has applied the set last. */
const DEPLOYMENT = "longshore/deployment";
/** What `kubectl apply` prints of each object. */
const APPLIED = /^(\S+\/\S+) serverside-applied$/;

export interface Members {
  objects: KubernetesObject[];
  /** That has applied them last, or has begun to. */
  deployment: string | undefined;
}

/**
 * The objects of a stack. They have the label of the set, and a ConfigMap has its ID and the kinds of its members:
 * https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
 */
export class ApplySet {
  readonly name: string;
  readonly #kubectl: Kubectl;
  /** Also those that the set no longer has, because their last objects may not be gone. */
  readonly #kinds = new Set<string>();
  /** Of its members, as soon as it has any. */
  #label: Readonly<Record<string, string>> | undefined;

  constructor(kubectl: Kubectl, name: string) {
    this.#kubectl = kubectl;
    this.name = name;
  }

  async read(options: { hidesErrors?: boolean } = {}): Promise<Members> {
    const found = await this.#kubectl.readJson(
      ["get", `configmap/${this.name}`, "--ignore-not-found"],
      options,
    );
    const [parent] = toObjects(found);
    if (!parent) return { objects: [], deployment: undefined };
    const { labels = {}, annotations = {} } = parent.metadata;
    const kinds = annotations[`${PREFIX}/contains-group-kinds`] ?? "";
    for (const kind of kinds.split(",")) if (kind !== "") this.#kinds.add(kind);
    const deployment = annotations[DEPLOYMENT];
    const id = labels[`${PREFIX}/id`];
    if (this.#kinds.size === 0 || id === undefined) return { objects: [], deployment };
    this.#label = { [`${PREFIX}/part-of`]: id };
    const members = await this.#kubectl.readJson(
      ["get", [...this.#kinds].join(","), `--selector=${PREFIX}/part-of=${id}`],
      options,
    );
    return { objects: toObjects(members), deployment };
  }

  /** Prints what would change, as far as the cluster can tell. Returns the step that fails. */
  async preview(files: readonly string[], options: ApplyOptions): Promise<Failure | undefined> {
    const { force } = options;
    const diff = ["diff", "--server-side", this.#manager, ...(force ? ["--force-conflicts"] : [])];
    // Without the label of the set, each object would be shown as one that loses it.
    const labeled = this.#label ? await addLabels(files, this.#label) : files;
    const shown = await this.#kubectl.run([...diff, ...toFlags(labeled)]);
    // 1: there are differences.
    if (shown.code !== 0 && shown.code !== 1) return { command: "diff", step: shown };
    const step = await this.#kubectl.run([...this.#apply(files, options), "--dry-run=server"]);
    return step.code === 0 ? undefined : { command: "apply --dry-run=server", step };
  }

  /** Adds the names of those that it has applied. */
  async apply(
    files: readonly string[],
    options: ApplyOptions & { applied: Set<string> },
  ): Promise<Failure | undefined> {
    const step = await this.#kubectl.run(this.#apply(files, options), {
      onLine: (line) => {
        console.log(line);
        const [, name] = APPLIED.exec(line) ?? [];
        if (name !== undefined) options.applied.add(name);
      },
    });
    return step.code === 0 ? undefined : { command: "apply", step };
  }

  /** Notes who applies it, so that the next deployment knows what it waits for. The set must exist. */
  async setDeployment(id: string): Promise<void> {
    const parent = ["annotate", `configmap/${this.name}`, "--overwrite", `${DEPLOYMENT}=${id}`];
    const step = await this.#kubectl.run([...parent, this.#manager], { onLine: () => undefined });
    if (step.code !== 0) console.log("The deployment is not noted in the cluster.");
  }

  #apply(files: readonly string[], { force }: ApplyOptions): string[] {
    return [
      ...["apply", "--server-side", this.#manager, "--prune", `--applyset=configmaps/${this.name}`],
      ...(force ? ["--force-conflicts"] : []),
      ...toFlags(files),
    ];
  }

  /** One for each stack: two that apply the same object are in conflict. */
  get #manager(): string {
    return `--field-manager=${this.name}`;
  }
}

export interface ApplyOptions {
  /** Takes fields from other managers. */
  force: boolean;
}

export interface Failure {
  command: string;
  step: Step;
}

function toFlags(files: readonly string[]): string[] {
  return files.map((file) => `--filename=${file}`);
}
