import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Result } from "../../../packages/client/src/index.ts";
import { spreadStacks, startEarlier } from "./past.ts";

type Claim = NonNullable<Result<"/v1/runner/claims", "post">>;

/** How a run goes: what its stacks write and report, and whether one of them fails. */
export interface Run {
  /** Seconds. */
  takes: number;
  log: readonly string[];
  /** Why the last stack fails. Absent: all succeed. */
  failure?: string;
  outputs?: { name: string; value: string }[];
}

/** Executes the next deployment of a pool as a runner does. */
export async function runNext(runner: Client, d1: D1Database, run: Run): Promise<void> {
  const claim = await claimNext(runner);
  const { stack_ids, id } = claim.deployment;
  const path = { attempt_id: claim.attempt_id };
  const headers = { "lease-token": claim.lease_token };
  await runner.post("/v1/runner/attempts/{attempt_id}/start", { path, headers });
  await startEarlier(d1, id, { queuedMs: 4_000, runMs: run.takes * 1_000 });
  const last = stack_ids.at(-1) ?? "";
  await runner.post("/v1/runner/attempts/{attempt_id}/logs", {
    path,
    headers,
    query: { offset: 0, stack_id: last },
    body: `${run.log.join("\n")}\n`,
  });
  for (const stack_id of stack_ids) {
    const hasFailed = run.failure !== undefined && stack_id === last;
    await runner.put("/v1/runner/attempts/{attempt_id}/stacks/{stack_id}", {
      path: { ...path, stack_id },
      headers,
      body: {
        seq: 1,
        status: hasFailed ? "failed" : "succeeded",
        ...(hasFailed && { status_reason: run.failure }),
        ...(!hasFailed && stack_id === last && run.outputs && { outputs: run.outputs }),
        resources: [
          {
            template_id: "Service",
            physical_id: `arn:aws:ecs:eu-central-1:123456789012:service/${stack_id}`,
            resource_type: "AWS::ECS::Service",
            status: hasFailed ? "UPDATE_FAILED" : "UPDATE_COMPLETE",
          },
        ],
      },
    });
  }
  await spreadStacks(d1, id, { runMs: run.takes * 1_000, stacks: stack_ids.length });
  await runner.post("/v1/runner/attempts/{attempt_id}/complete", {
    path,
    headers,
    body: { outcome: run.failure === undefined ? "succeeded" : "failed" },
  });
}

async function claimNext(runner: Client): Promise<Claim> {
  for (;;) {
    const claim = await runner.post("/v1/runner/claims", {
      body: { request_id: crypto.randomUUID() },
    });
    if (claim) return claim;
    await sleep(200);
  }
}
