import { durationMs } from "../../../lib/clock.ts";
import { isCommitOfJob } from "../../../lib/job-source.ts";
import type { Creator, Executor } from "./creator-store.ts";
import type { DeploymentRow } from "./store.ts";

const GITHUB = "https://token.actions.githubusercontent.com";

type OriginRow = Pick<DeploymentRow, "creator" | "executor" | "trigger" | "copiedId" | "reason"> &
  Pick<DeploymentRow, "createdAt" | "startedAt" | "finishedAt">;

/** Who has created a deployment, why and from what, who executes it, and how long that takes. */
export function presentOrigin(row: OriginRow) {
  const { creator, executor, trigger, copiedId, reason } = row;
  return {
    created_by: creator ? presentCreator(JSON.parse(creator) as Creator) : undefined,
    reason: reason ?? undefined,
    trigger,
    from_deployment_id: copiedId ?? undefined,
    runner: executor ? presentExecutor(JSON.parse(executor) as Executor) : undefined,
    queued_seconds: secondsBetween(row.createdAt, row.startedAt ?? row.finishedAt),
    run_seconds: row.startedAt === null ? undefined : secondsBetween(row.startedAt, row.finishedAt),
  };
}

/** The source, marked as verified if the CI job that created the deployment ran for its commit. */
export function presentSource(source: string, creator: string | null | undefined) {
  const sent = JSON.parse(source) as { git?: Parameters<typeof isCommitOfJob>[0] };
  const { jobSource = null, claims = null } = creator ? (JSON.parse(creator) as Creator) : {};
  const isVerified =
    sent.git && jobSource && isCommitOfJob(sent.git, jobSource, claims?.["repository"]);
  return { ...sent, ...(isVerified && { verified: true }) } as object;
}

/** Rounded to the nearest. */
export function secondsBetween(from: number, to: number | null): number | undefined {
  return to === null ? undefined : Math.round(durationMs(from, to) / 1000);
}

function presentCreator({ type, membershipId, trustId, claims, current }: Creator) {
  return {
    type,
    name: current?.name,
    membership_id: membershipId,
    trust_id: trustId ?? undefined,
    claims: claims ?? undefined,
    run_url: claims && current?.issuer === GITHUB ? runUrlOf(claims) : undefined,
  };
}

/** Of a workflow run at GitHub. The claims are verified, and their form is checked because they become a URL. */
function runUrlOf({ repository = "", run_id = "" }: NonNullable<Creator["claims"]>) {
  const isKnown = /^[\w.-]+\/[\w.-]+$/.test(repository) && /^\d+$/.test(run_id);
  return isKnown ? `https://github.com/${repository}/actions/runs/${run_id}` : undefined;
}

function presentExecutor({ poolId, poolName, name }: Executor) {
  return { pool: { id: poolId, name: poolName }, name: name || undefined };
}
