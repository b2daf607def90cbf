import {
  type ProgramContext,
  ProgramError,
  parseDuration,
  toLowerId,
  wait,
} from "../../program/src/index.ts";
import { ApplySet, type Failure, type Members } from "./apply-set.ts";
import { findCluster, type KubernetesSettings } from "./cluster.ts";
import { type Followed, followApplied } from "./follow.ts";
import { describeFailure, Kubectl, requireVersion } from "./kubectl.ts";
import { prepareManifests } from "./manifests.ts";
import type { KubernetesObject } from "./objects.ts";
import { readReferences, reportOutputs } from "./outputs.ts";
import { printLogs } from "./pods.ts";
import { Resources } from "./resources.ts";
import { waitUntilSettled } from "./settled.ts";

const DEFAULT_TIMEOUT = "10m";

type Context = ProgramContext<KubernetesSettings>;

/** Applies the manifests of a commit, deletes what the stack no longer has, and waits until all is ready. */
export async function deploy(context: Context): Promise<void> {
  const { input, settings, report, folder, stop } = context;
  const timeoutMs = parseDuration("timeout", settings.timeout ?? DEFAULT_TIMEOUT) * 1_000;
  const references = readReferences(settings.outputs ?? {});
  await requireVersion(folder);
  const kubectl = new Kubectl(await findCluster(context), folder);
  const files = await prepareFiles(context);
  const { context: cluster = "the cluster of its pod", namespace } = kubectl.cluster;
  // The same for all deployments of the stack, whatever its names are.
  const set = new ApplySet(kubectl, `longshore-${toLowerId(input.stack.id)}`);
  console.log(`Applies ${set.name} to the namespace ${namespace} of ${cluster}.`);
  if (settings.create_namespace) await createNamespace(kubectl);
  const waiting = (ms: number) => wait(ms, stop);
  await waitUntilSettled({ read: () => set.read(), wait: waiting, stop, timeoutMs });
  const before = await set.read();
  const run = new Run(context, { kubectl, set, before });
  await run.apply(files);
  const objects = await run.follow(timeoutMs);
  reportOutputs(report, objects, { references, url: settings.url });
}

function prepareFiles({ settings, folder }: Context): Promise<string[]> {
  const { path = "", images = {} } = settings;
  return prepareManifests({ path, checkout: process.cwd(), images, folder: `${folder}/manifests` });
}

async function createNamespace(kubectl: Kubectl): Promise<void> {
  const name = kubectl.cluster.namespace;
  const found = await kubectl.readJson(["get", `namespace/${name}`, "--ignore-not-found"]);
  if (found !== undefined) return;
  const step = await kubectl.run(["create", "namespace", name]);
  if (step.code !== 0) throw new ProgramError(`${describeFailure("create namespace", step)}.`);
}

interface RunOptions {
  kubectl: Kubectl;
  set: ApplySet;
  before: Members;
}

class Run {
  readonly #context: Context;
  readonly #kubectl: Kubectl;
  readonly #set: ApplySet;
  readonly #before: Members;
  readonly #resources: Resources;
  readonly #applied = new Set<string>();

  constructor(context: Context, { kubectl, set, before }: RunOptions) {
    this.#context = context;
    this.#kubectl = kubectl;
    this.#set = set;
    this.#before = before;
    this.#resources = new Resources(context.report, before.objects);
  }

  async apply(files: readonly string[]): Promise<void> {
    const { id } = this.#context.input.deployment;
    const force = this.#context.settings.force_conflicts ?? false;
    this.#requireRunning("Nothing was changed.");
    const refusal = await this.#set.preview(files, { force });
    this.#requireRunning("Nothing was changed.");
    if (refusal) throw fail(refusal, "Nothing was changed.");
    const isFirst = this.#before.objects.length === 0;
    if (!isFirst) await this.#set.setDeployment(id);
    const failure = await this.#set.apply(files, { force, applied: this.#applied });
    if (isFirst) await this.#set.setDeployment(id);
    if (!failure && this.#applied.size === 0) {
      throw new ProgramError(
        "kubectl apply does not say what it has applied. Use another version.",
      );
    }
    if (!failure) return;
    await this.#reportAll({ hasFailed: true });
    throw fail(failure, "The next deployment applies what is missing.");
  }

  /** Returns the objects of the stack, all of which are ready. */
  async follow(timeoutMs: number): Promise<readonly KubernetesObject[]> {
    const followed = await followApplied({
      kubectl: this.#kubectl,
      set: this.#set,
      resources: this.#resources,
      applied: this.#applied,
      timeoutMs,
      stop: this.#context.stop,
    });
    const { outcome, objects, problems } = followed;
    if (outcome === "ready") {
      this.#resources.reportAll(objects, { problems });
      return objects;
    }
    if (outcome !== "stopped") await printLogs(this.#kubectl, followed.podProblems);
    await this.#reportAll({ hasFailed: outcome !== "stopped", problems });
    this.#requireRunning("Objects stay as they are; the next deployment goes on from there.");
    throw new ProgramError(describeUnready(followed));
  }

  /** The reason of the failure matters more than a cluster that does not answer. */
  async #reportAll({ problems = new Map(), ...details }: ReportDetails): Promise<void> {
    const members = await this.#set.read().catch(() => undefined);
    if (members) this.#resources.reportAll(members.objects, { ...details, problems });
    else console.error("The resources are not reported, because the cluster does not answer.");
  }

  #requireRunning(rest: string): void {
    if (this.#context.stop.aborted) throw new ProgramError(`The deployment was stopped. ${rest}`);
  }
}

interface ReportDetails {
  hasFailed: boolean;
  problems?: ReadonlyMap<string, string>;
}

function fail({ command, step }: Failure, rest: string): ProgramError {
  const what = describeFailure(command, step);
  return new ProgramError(`${what}${/[.!?]$/.test(what) ? "" : "."} The log says more. ${rest}`);
}

function describeUnready({ outcome, unready }: Followed): string {
  const what = unready.join("; ");
  return outcome === "failed"
    ? `Not ready: ${what}. The log says more.`
    : `Not ready within the timeout: ${what}. The log says more.`;
}
