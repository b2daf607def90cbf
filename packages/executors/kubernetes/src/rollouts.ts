import type { Kubectl } from "./kubectl.ts";
import { type KubernetesObject, nameOf } from "./objects.ts";

/**
 * Prints how rollouts go, one after the other. Whether they have succeeded is read from the objects, because this ends
 * when a connection is lost.
 */
export async function followRollouts(
  kubectl: Kubectl,
  workloads: readonly KubernetesObject[],
  { deadline, ended }: { deadline: number; ended: AbortSignal },
): Promise<void> {
  for (const workload of workloads) {
    const seconds = Math.max(1, Math.ceil((deadline - Date.now()) / 1_000));
    await kubectl.follow(["rollout", "status", nameOf(workload), `--timeout=${seconds}s`], ended);
  }
}
