import type { Schemas } from "../../../client/src/index.ts";
import { formatDuration } from "./duration.ts";

type Deployment = Schemas["Deployment"];

const SHORT_HASH = 7;

/** A commit and an image in one line. Undefined if there is neither. */
export function describeSource(source: Deployment["data"]["source"]): string | undefined {
  const { git, registry } = source ?? {};
  const ref = git?.ref.replace(/^refs\/(heads|tags)\//, "");
  const commit = git && `${git.owner}/${git.repo}@${ref} ${git.commit.sha.slice(0, SHORT_HASH)}`;
  return [commit ?? [], registry?.image ?? []].flat().join(", ") || undefined;
}

/** Who has created it. Of a CI job, the trust and who has started the job. */
export function describeCreator(creator: Deployment["created_by"]): string | undefined {
  if (!creator) return undefined;
  const { name = creator.membership_id, claims } = creator;
  return claims?.["actor"] === undefined ? name : `${name} (${claims["actor"]})`;
}

/** What it was made from, unless a request has described it, and what for. */
export function describeReason({
  trigger = "api",
  reason,
}: Pick<Deployment, "trigger" | "reason">): string | undefined {
  return [trigger === "api" ? [] : trigger, reason ?? []].flat().join(": ") || undefined;
}

export function describeSeconds(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : formatDuration(seconds * 1_000);
}

/** Why each stack has its status, unless that is the reason of the deployment, which those have that did not begin. */
export function explainStacks({
  data: { stacks = [] },
  message,
  failure_reason,
}: Deployment): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { id, status, started_at, status_reason: reason } of stacks) {
    const isBegun = status !== "skipped" || started_at !== undefined;
    const isOwn = reason !== (message ?? failure_reason);
    if ((isBegun || isOwn) && reason) reasons.set(id, reason);
  }
  return reasons;
}

/** Why it has ended so, unless a stack says it. */
export function explainOutcome({ data, message, failure_reason }: Deployment): string | undefined {
  const hasFailed = data.stacks?.some(({ status, status_reason }) => {
    return status === "failed" && status_reason;
  });
  return hasFailed ? undefined : message || failure_reason;
}
