import type { Schemas } from "../../../../client/src/index.ts";

type Deployment = Schemas["Deployment"];
type State = Schemas["StackOfDeployment"];

/** In milliseconds since the epoch. Without an end, it lasts until now. */
export interface Span {
  start: number;
  end: number | undefined;
}

/** The stacks in the order of their needs. Each is pending before a runner starts. */
export function statesOf({ stack_ids, data, created_at }: Deployment): State[] {
  const reported = new Map(data.stacks?.map((stack) => [stack.id, stack]));
  return stack_ids.map(
    (id) => reported.get(id) ?? { id, status: "pending", timestamp: created_at },
  );
}

/** Undefined for a stack that has not started. */
export function spanOf({ status, started_at, timestamp }: State): Span | undefined {
  if (started_at === undefined) return undefined;
  const isRunning = status === "in_progress";
  return { start: Date.parse(started_at), end: isRunning ? undefined : Date.parse(timestamp) };
}

export function failedStacksOf({ data }: Deployment): State[] {
  return data.stacks?.filter(({ status }) => status === "failed") ?? [];
}

/** Why a deployment failed: the reason of the first stack that did. Undefined: nobody has reported one. */
export function reasonOf(deployment: Deployment): string | undefined {
  const [failed] = failedStacksOf(deployment);
  return failed?.status_reason ?? deployment.message;
}

/** The reasons by stack. What the page says already, such as why another stack failed, is not said again. */
export function ownReasonsOf(deployment: Deployment): Map<string, string> {
  const said = new Set([deployment.message, reasonOf(deployment)]);
  const reasons = new Map<string, string>();
  for (const { id, status_reason: reason } of deployment.data.stacks ?? []) {
    if (reason === undefined || said.has(reason)) continue;
    said.add(reason);
    reasons.set(id, reason);
  }
  return reasons;
}
