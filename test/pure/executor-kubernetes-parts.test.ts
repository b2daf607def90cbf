import { describe, expect, it, type TestContext, vi } from "vitest";
import type { KubernetesObject } from "../../packages/executors/kubernetes/src/objects.ts";
import { UNCHANGED_MS, waitUntilSettled } from "../../packages/executors/kubernetes/src/settled.ts";

/** A rollout with so many of its pods. */
const rollout = (available: number): KubernetesObject => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", generation: 1 } },
  spec: { replicas: 6 },
  status: {
    ...{ observedGeneration: 1, replicas: 6, updatedReplicas: 6 },
    availableReplicas: available,
  },
});

describe("the wait for a rollout of an earlier run", () => {
  /** @param availableAfter How many pods are available after so long. Time passes only in waits. */
  async function run(
    { onTestFinished }: TestContext,
    availableAfter: (ms: number) => number,
    timeoutMs = 300_000,
  ) {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    let waitedMs = 0;
    await waitUntilSettled({
      read: async () => ({ objects: [rollout(availableAfter(waitedMs))], deployment: undefined }),
      wait: async (ms) => {
        waitedMs += ms;
      },
      stop: new AbortController().signal,
      timeoutMs,
    });
    return { waitedMs, hasGivenUp: String(log.mock.lastCall).includes("makes no progress") };
  }

  it("lasts as long as each pod becomes available within 20 s of the one before", async (context) => {
    const stepMs = UNCHANGED_MS - 2_000;
    const slow = await run(context, (ms) => Math.floor(ms / stepMs));
    expect(slow).toEqual({ waitedMs: 6 * stepMs, hasGivenUp: false });
  });

  it("ends 20 s after the last change, and no earlier", async (context) => {
    const [never, early, late] = [() => 0, 2_000, UNCHANGED_MS - 2_000] as const;
    expect(await run(context, never)).toEqual({ waitedMs: UNCHANGED_MS, hasGivenUp: true });
    for (const at of [early, late]) {
      const once = await run(context, (ms) => (ms < at ? 0 : 1));
      expect(once).toEqual({ waitedMs: at + UNCHANGED_MS, hasGivenUp: true });
    }
  });
});
