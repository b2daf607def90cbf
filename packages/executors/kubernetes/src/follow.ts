import { wait } from "../../program/src/index.ts";
import type { ApplySet } from "./apply-set.ts";
import type { Kubectl } from "./kubectl.ts";
import { type KubernetesObject, kindOf, nameOf } from "./objects.ts";
import { findPodProblems, type PodProblem } from "./pods.ts";
import type { Resources } from "./resources.ts";
import { followRollouts } from "./rollouts.ts";
import { isRolledOut, readState } from "./states.ts";

const POLL_EVERY_MS = 2_000;

interface FollowOptions {
  kubectl: Kubectl;
  set: ApplySet;
  resources: Resources;
  /** The names of what must be there. */
  applied: ReadonlySet<string>;
  timeoutMs: number;
  stop: AbortSignal;
}

/** What was read last. */
export interface Followed {
  outcome: "ready" | "failed" | "unready" | "stopped";
  objects: readonly KubernetesObject[];
  /** Such as `deployment.apps/web: 1 of 2 pods are available`. */
  unready: readonly string[];
  podProblems: readonly PodProblem[];
  /** By the names of their workloads. */
  problems: ReadonlyMap<string, string>;
}

/** Reports the objects until all are ready, one has failed, or the time is over. */
export async function followApplied(options: FollowOptions): Promise<Followed> {
  const { kubectl, set, resources, stop, timeoutMs } = options;
  const deadline = Date.now() + timeoutMs;
  const ended = new AbortController();
  let rollouts: Promise<void> | undefined;
  /** Jobs that may be deleted, because they have ended. */
  const completed = new Set<string>();
  const nothing = { objects: [], unready: [...options.applied], podProblems: [] };
  let last: Followed = { ...nothing, outcome: "unready", problems: new Map() };
  try {
    while (!stop.aborted && Date.now() < deadline) {
      // What the cluster does not answer now, it does the next time.
      const members = await set.read({ hidesErrors: true }).catch(() => undefined);
      if (members) {
        last = await examine(options, members.objects, completed);
        resources.reportChanges(last.objects, last);
        if (last.outcome !== "unready") return last;
        rollouts ??= followRollouts(kubectl, last.objects.filter(isRolledOut), {
          deadline,
          ended: ended.signal,
        });
      }
      await wait(POLL_EVERY_MS, stop);
    }
    return stop.aborted ? { ...last, outcome: "stopped" } : last;
  } finally {
    ended.abort();
    await rollouts;
  }
}

async function examine(
  { kubectl, applied }: FollowOptions,
  objects: readonly KubernetesObject[],
  completed: Set<string>,
): Promise<Followed> {
  const missing = new Set(applied);
  const unready: string[] = [];
  const podProblems: PodProblem[] = [];
  const problems = new Map<string, string>();
  let hasFailed = false;
  for (const object of objects) {
    const name = nameOf(object);
    const { end, text } = readState(object);
    // One that was deleted may still be there for a while.
    const isRemoved = !missing.delete(name) && object.metadata.deletionTimestamp !== undefined;
    if (isRemoved) continue;
    if (end === "COMPLETE") {
      if (kindOf(object) === "Job.batch") completed.add(name);
      continue;
    }
    hasFailed ||= end === "FAILED";
    const found = await findPodProblems(kubectl, object);
    podProblems.push(...found);
    const problem = found.map((each) => each.text).join("; ");
    if (problem !== "") problems.set(name, problem);
    unready.push(`${name}: ${problem === "" ? text : `${text}; ${problem}`}`);
  }
  for (const name of missing) if (!completed.has(name)) unready.push(`${name}: does not exist`);
  const outcome = hasFailed ? "failed" : unready.length === 0 ? "ready" : "unready";
  return { outcome, objects, unready, podProblems, problems };
}
