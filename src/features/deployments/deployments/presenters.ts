import { toTimestamp } from "../../../lib/clock.ts";
import type { ApiError } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { approverVerifier, type IdentitySettings } from "../../../lib/settings.ts";
import {
  type Condition,
  type Facts,
  findOpenConditions,
  type Override,
  type Reader,
} from "../conditions/index.ts";
import { presentOrigin, presentSource, secondsBetween } from "./origin-presenters.ts";
import type { Document, Operation } from "./patch.ts";
import type { ReferencePreview } from "./reference-preview.ts";
import type { DeploymentRow, StackOfDeployment } from "./store.ts";
import type { NewDeployment } from "./transitions/create.ts";
import type { Waiting, WaitingPool } from "./waiting-store.ts";

/** A runner's request gives no actor: its deployment waits for nothing. */
export function presentDeployment(row: DeploymentRow, ctx: PresentedFor) {
  const stacks = JSON.parse(row.stacks) as StackOfDeployment[];
  return {
    id: row.id,
    environment_id: row.environmentId,
    status: row.status,
    stack_ids: stacks.map(({ id }) => id),
    data: {
      patch: JSON.parse(row.patch) as Operation[],
      ...(row.source !== null && { source: presentSource(row.source, row.creator) }),
      ...(stacks.length > 0 && { stacks: stacks.map(presentStackOfDeployment) }),
    },
    created_at: toTimestamp(row.createdAt),
    started_at: row.startedAt === null ? undefined : toTimestamp(row.startedAt),
    finished_at: row.finishedAt === null ? undefined : toTimestamp(row.finishedAt),
    updated_at: toTimestamp(row.updatedAt),
    continue_on_failure: row.continueOnFailure,
    ...presentOrigin(row),
    ...(row.failureReason !== null && { failure_reason: row.failureReason }),
    ...(row.message !== null && { message: row.message }),
    exempt: row.exempt ?? undefined,
    overridden: row.overridden ? presentOverride(row.overridden) : undefined,
    waiting_for: waitingOf(row, ctx),
  };
}

/** Undefined: it is not queued, no rules apply, or a list has it. */
export function factsOf({ waitingFor }: DeploymentRow): Facts | undefined {
  return (waitingFor && (JSON.parse(waitingFor) as Waiting).facts) || undefined;
}

function presentOverride(stored: string) {
  const { conditions, reason, membership_id, created_at } = JSON.parse(stored) as Override;
  return { conditions: [...conditions], reason, membership_id, created_at };
}

interface PresentedFor {
  actor?: Reader;
  settings: IdentitySettings;
}

function waitingOf(
  { waitingFor, completedFacts }: DeploymentRow,
  { actor, settings }: PresentedFor,
) {
  if (!waitingFor) return undefined;
  const waiting = JSON.parse(waitingFor) as Waiting;
  const facts = completedFacts ?? waiting.facts;
  const verifier = approverVerifier(settings);
  const open = facts ? findOpenConditions(facts, verifier, waiting.now, actor) : [];
  return presentReasons(open, presentWaiting(waiting));
}

/** No runner is asked for as long as rules hold the deployment. */
function presentReasons(open: readonly Condition[], others: ReturnType<typeof presentWaiting>) {
  if (open.length === 0) return others;
  return [...open.map(presentCondition), ...others.filter(({ code }) => code !== "runner")];
}

function presentCondition({ code, message, opensAt, expiresAt, deploymentId }: Condition) {
  return {
    code,
    message,
    opens_at: opensAt === undefined ? undefined : toTimestamp(opensAt),
    expires_at: expiresAt === undefined ? undefined : toTimestamp(expiresAt),
    deployment_id: deploymentId,
  };
}

function presentWaiting({ earlierId, isOffered, pools }: Waiting) {
  if (isOffered)
    return [waitsForRunner("A runner has been offered it, and is about to start it.", pools)];
  const isOnline = pools.some((pool) => pool.isOnline);
  const earlier = earlierId ? [waitsForDeployment(earlierId)] : [];
  if (pools.length === 0) return [...earlier, WAITS_FOR_POOL];
  // The runners are no reason while the deployment waits for one before it, unless there are none.
  if (earlierId && isOnline) return earlier;
  const names = pools.map(({ name }) => `"${name}"`).join(", ");
  const runnerOf = `runner of the pool${pools.length > 1 ? "s" : ""} ${names}`;
  const message = isOnline
    ? `A ${runnerOf} takes it once its pool has no older deployment waiting.`
    : `No ${runnerOf} has asked for work in the last ${ONLINE_MINUTES} minutes: start one.`;
  return [...earlier, waitsForRunner(message, pools)];
}

const ONLINE_MINUTES = LIMITS.runnerOnlineMs.value / 60_000;

const WAITS_FOR_POOL = {
  code: "pool",
  message: "No runner pool includes this environment.",
} as const;

function waitsForDeployment(id: string) {
  const message = `It starts after the deployment ${id} of its environment has ended.`;
  return { code: "deployment" as const, message, deployment_id: id };
}

function waitsForRunner(message: string, pools: readonly WaitingPool[]) {
  return { code: "runner" as const, message, pools: pools.map(presentWaitingPool) };
}

function presentWaitingPool({ id, name, askedAt, isOnline }: WaitingPool) {
  return {
    id,
    name,
    online: isOnline === 1,
    last_asked_at: askedAt === null ? undefined : toTimestamp(askedAt),
  };
}

/** Without a runner that takes it as soon as it exists. */
function obstaclesOf(waiting: Waiting | undefined) {
  if (!waiting) return [];
  const isTaken = waiting.earlierId === null && waiting.pools.some((pool) => pool.isOnline);
  return isTaken ? [] : presentWaiting(waiting);
}

/** Shown as it is. A document is undefined if it is no longer stored, or cannot be derived. */
export interface ConfigurationChange {
  before?: Document;
  after?: Document;
  diff?: Operation[];
  /** Of the content that would start, while rules apply to the deployment. */
  digest?: string;
}

/** What a deployment, a redeploy or a promotion would do. */
export interface DeploymentPreview {
  environmentId: string;
  /** Undefined: the configuration to deploy is no longer stored, or the patch does not apply. */
  fields: Pick<NewDeployment, "patch" | "source"> | undefined;
  stackIds: readonly string[];
  references: readonly ReferencePreview[];
  /** Those that the new deployment replaces in the queue. */
  supersededIds: string[];
  /** What would hold it, apart from the rest that it would wait for. */
  conditions: readonly Condition[];
  /** Undefined: the environment has just been deleted. */
  waiting: Waiting | undefined;
  /** What the request would throw now. */
  error: Pick<ApiError, "code" | "message"> | undefined;
  /** Of a redeployment, for a key that may read them. */
  changedVariables?: readonly { name: string }[] | undefined;
}

export function presentPreview(preview: DeploymentPreview) {
  const { environmentId, fields, stackIds, supersededIds, changedVariables } = preview;
  return {
    environment_id: environmentId,
    ...(fields && { patch: JSON.parse(fields.patch) as Operation[] }),
    ...(fields?.source && { source: JSON.parse(fields.source) as object }),
    stack_ids: [...stackIds],
    references: preview.references.map(({ stackId, ...each }) => ({ stack_id: stackId, ...each })),
    superseded_ids: supersededIds,
    changed_variables: changedVariables?.map(({ name }) => name),
    waiting_for: presentReasons(preview.conditions, obstaclesOf(preview.waiting)),
    ...(preview.error && { error: preview.error }),
  };
}

export function presentNewDeployment(row: NewDeployment) {
  return {
    id: row.id,
    environment_id: row.environmentId,
    status: "queued",
    stack_ids: row.stackIds,
    data: {
      patch: JSON.parse(row.patch) as Operation[],
      ...(row.source && { source: JSON.parse(row.source) as object }),
    },
    created_at: toTimestamp(row.now),
  };
}

function presentStackOfDeployment(stack: StackOfDeployment) {
  const { id, status, statusReason, startedAt, timestamp } = stack;
  const hasEnded = !["pending", "in_progress"].includes(status);
  return {
    id,
    status,
    ...(statusReason !== null && { status_reason: statusReason }),
    timestamp: toTimestamp(timestamp),
    ...(startedAt !== null && {
      started_at: toTimestamp(startedAt),
      run_seconds: hasEnded ? secondsBetween(startedAt, timestamp) : undefined,
    }),
  };
}
