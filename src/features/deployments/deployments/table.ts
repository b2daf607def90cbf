import { type NotNull, type SQL, sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../../db/columns.ts";
import { DEPLOYMENT_TRIGGERS } from "../../../lib/resource-types.ts";
import { EXEMPTIONS } from "../../projects/access/model.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";
import {
  ATTEMPT_OUTCOMES,
  ATTEMPT_STATES,
  CREATOR_TYPES,
  DEPLOYMENT_STATUSES,
  QUEUES,
  STACK_STATUSES,
  statesBefore,
  TRANSITIONS,
} from "./lifecycle.ts";

// SQL literals, because SQLite does not use a partial index for a bound parameter.
export const deploymentStatus = literalsOf(DEPLOYMENT_STATUSES);
export const stackStatus = literalsOf(STACK_STATUSES);
export const attemptState = literalsOf(ATTEMPT_STATES);
export const attemptOutcome = literalsOf(ATTEMPT_OUTCOMES);

export const ACTIVE_STATUSES = literalList(statesBefore(TRANSITIONS.deployment));
export const RUNNING_STATUSES = literalList(
  statesBefore(TRANSITIONS.deployment, "complete.completeDeployment"),
);
export const ACTIVE_STACK_STATUSES = literalList(statesBefore(TRANSITIONS.stack));

/** A creator whom nobody knows. No membership has the ID. */
const NOBODY = "1".repeat(22);

const organizationId = () =>
  id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" });
const environmentId = () =>
  id("environment_id")
    .notNull()
    .references(() => environments.id, { onDelete: "restrict" });
const deploymentId = () =>
  id("deployment_id").references(() => deployments.id, { onDelete: "restrict" });

export const deployments = sqliteTable(
  "deployments",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    environmentId: environmentId(),
    /** Newer deployments of an environment have higher numbers. */
    number: integer("number").notNull(),
    status: text("status", { enum: DEPLOYMENT_STATUSES }).notNull(),
    /** The newest status that an event was written for. */
    notifiedStatus: text("announced", { enum: DEPLOYMENT_STATUSES }).notNull().default("queued"),
    queue: text("queue", { enum: QUEUES }).notNull(),
    /** JSON: the operations, with the values that they replace. */
    patch: text("patch").notNull(),
    /**
     * JSON: the environment's configuration after the deployment succeeds. Empty once
     * `LIMITS.redeployableDeployments` newer deployments exist.
     */
    configuration: text("configuration").notNull(),
    /** JSON. */
    source: text("source"),
    /** Whether `source` is the environment's, which the start reads again. */
    keepsSource: integer("keeps_source", { mode: "boolean" }).notNull().default(false),
    /** What created it. */
    trigger: text("trigger", { enum: DEPLOYMENT_TRIGGERS }).notNull().default("api"),
    reason: text("reason"),
    failureReason: text("failure_reason"),
    message: text("message"),
    /** Set while canceling: the deployment ends at this time, with or without its runner. */
    cancelDeadline: time("cancel_deadline"),
    createdAt: createdAt(),
    startedAt: time("started_at"),
    finishedAt: time("finished_at"),
    updatedAt: updatedAt(),
    /** The version of the environment's configuration that `patch` and `configuration` are based on. */
    configurationVersion: integer("configuration_version").notNull().default(0),
    /**
     * Whether `configuration` is fixed at creation (redeploy and promote). Otherwise the start
     * applies the patch again if the environment's configuration has changed.
     */
    isAbsolute: integer("is_absolute", { mode: "boolean" }).notNull().default(true),
    lapsedOffers: integer("lapsed_offers").notNull().default(0),
    releasedOffers: integer("released_offers").notNull().default(0),
    version: version(),
    stackCount: integer("stack_count").notNull().default(0),
    /** The bytes of the `status_reason`s of its stacks as JSON. A trigger keeps it. */
    reasonBytes: integer("reason_bytes").notNull().default(0),
    /**
     * The time from which a queued deployment may start, as it was last evaluated; `HELD_FOR_EVENT` if no time
     * decides. The start decides again. 0: it has no rules. Null: it has to be evaluated first.
     */
    heldUntil: time("held_until"),
    evaluatedAt: time("evaluated_at"),
    /** Whether it lacked approvals when it was last evaluated, so that an event has asked for them. */
    awaitsApproval: integer("awaits_approval", { mode: "boolean" }).notNull().default(false),
    /** A JSON array: the rules of the environment before they were changed while the deployment was queued. */
    keptRules: text("kept_rules").notNull().default("[]"),
    /** JSON: see `Facts`. */
    creators: text("creators").notNull().default("[]"),
    /** JSON: what a trust has verified of who created it. Null: no trust has given its key. */
    claims: text("claims"),
    /** Null: it is no redeployment of what runs, or ran before. */
    exempt: text("exempt", { enum: EXEMPTIONS }),
    /** JSON: an `Override`, with what its content resulted from. Null: nobody has overridden a rule. */
    overridden: text("overridden"),
    creatorType: text("creator_type", { enum: CREATOR_TYPES }).notNull().default("person"),
    creatorMembershipId: id("creator_membership_id").notNull().default(NOBODY),
    /** Of the trust that gave the key. */
    creatorTrustId: id("creator_trust_id"),
    /** What was promoted or redeployed. */
    copiedId: id("copied_id"),
    /** SHA-256 of `configuration` as canonical JSON, hexadecimal. Null: not computed yet. */
    configurationDigest: text("configuration_digest"),
    /** JSON: the stacks and the connection at the start. Null: it has not started, or from before this column. */
    startBasis: text("start_basis"),
    /** JSON of `Resulting`. Null: not computed yet. */
    resulting: text("resulting"),
    /** Whether the schedule has to compute what rules compare of this success. Triggers set it. */
    isDigestDue: integer("digests_due", { mode: "boolean" }).notNull().default(false),
    /** Whether the stacks that do not need a failed one are deployed. */
    continueOnFailure: integer("continue_on_failure", { mode: "boolean" }).notNull().default(false),
  },
  (table) => [
    uniqueIndex("deployments_number").on(table.environmentId, table.number),
    uniqueIndex("deployments_active")
      .on(table.environmentId)
      .where(sql`status in ${RUNNING_STATUSES}`),
    index("deployments_list").on(table.environmentId, table.createdAt, table.id),
    index("deployments_list_status").on(
      table.environmentId,
      table.status,
      table.createdAt,
      table.id,
    ),
    index("deployments_organization").on(table.organizationId, table.createdAt, table.id),
    index("deployments_organization_status").on(
      table.organizationId,
      table.status,
      table.createdAt,
      table.id,
    ),
    index("deployments_unannounced").on(table.environmentId).where(sql`status <> announced`),
    index("deployments_changed")
      .on(table.status, table.environmentId)
      .where(sql`status <> announced`),
    index("deployments_project").on(table.projectId, table.createdAt, table.id),
    index("deployments_project_status").on(
      table.projectId,
      table.status,
      table.createdAt,
      table.id,
    ),
    index("deployments_redeployable")
      .on(table.environmentId, table.number)
      .where(sql`configuration <> ''`),
    index("deployments_history").on(table.organizationId, table.id).where(sql`configuration = ''`),
    index("deployments_startable")
      .on(table.environmentId, table.heldUntil)
      .where(sql`status = ${deploymentStatus.queued}`),
    index("deployments_held")
      .on(table.organizationId, table.evaluatedAt)
      .where(sql`status = ${deploymentStatus.queued} and held_until is not 0`),
    index("deployments_digests_due").on(table.organizationId).where(sql`digests_due = 1`),
    index("deployments_overdue")
      .on(table.cancelDeadline)
      .where(sql`status = ${deploymentStatus.canceling}`),
  ],
);

/**
 * The newest successes of each environment, as rules compare them: a row of `deployments` has a document before its
 * other columns, which SQLite reads over. A trigger copies them.
 */
export const environmentSuccesses = sqliteTable(
  "environment_successes",
  {
    deploymentId: deploymentId().primaryKey(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    createdAt: createdAt(),
    startedAt: time("started_at"),
    finishedAt: time("finished_at"),
    source: text("source"),
    startBasis: text("start_basis").notNull(),
    configurationDigest: text("configuration_digest"),
  },
  (table) => [index("environment_successes_list").on(table.environmentId, table.createdAt)],
);

/** Digests of what has succeeded, without the paths that rules leave out. The schedule computes them. */
export const configurationDigests = sqliteTable(
  "configuration_digests",
  {
    deploymentId: deploymentId().notNull(),
    /** SHA-256 of the list of paths. */
    exceptionsDigest: text("exceptions_digest").notNull(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    digest: text("digest").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deploymentId, table.exceptionsDigest] }),
    index("configuration_digests_environment").on(table.environmentId),
  ],
);

/** A row outlives its stack. */
export const deploymentStacks = sqliteTable(
  "deployment_stacks",
  {
    deploymentId: deploymentId().notNull(),
    stackId: id("stack_id").notNull(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    position: integer("position").notNull(),
    status: text("status", { enum: STACK_STATUSES }).notNull(),
    statusReason: text("status_reason"),
    /** The sequence number of the newest report; 0 before the first. */
    seq: integer("seq").notNull(),
    timestamp: time("timestamp").notNull(),
    /** A copy of the deployment's time, for the index of a stack's deployments. */
    deploymentCreatedAt: time("deployment_created_at").notNull(),
    /** When the first report arrived. */
    startedAt: time("started_at"),
  },
  (table) => [
    primaryKey({ columns: [table.deploymentId, table.stackId] }),
    index("deployment_stacks_order").on(table.deploymentId, table.position),
    index("deployment_stacks_list").on(
      table.stackId,
      table.deploymentCreatedAt,
      table.deploymentId,
    ),
    index("deployment_stacks_environment").on(table.environmentId),
    index("deployment_stacks_unfinished")
      .on(table.environmentId, table.stackId)
      .where(sql`status in ${ACTIVE_STACK_STATUSES}`),
  ],
);

/** First an offer, then a lease. */
export const attempts = sqliteTable(
  "attempts",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    /** Null for the attempt of a plan. None is made yet, so its type is that of a deployment's. */
    deploymentId: deploymentId() as NotNull<ReturnType<typeof deploymentId>>,
    /** Null for the attempt of a deployment. */
    planId: id("plan_id"),
    poolId: id("pool_id")
      .notNull()
      .references(() => runnerPools.id, { onDelete: "restrict" }),
    /** Sent by the runner. A claim with the same ID gives the same attempt. */
    requestId: text("request_id").notNull(),
    /** Increases with each attempt in the environment. Only the newest attempt may act. */
    epoch: integer("epoch").notNull(),
    state: text("state", { enum: ATTEMPT_STATES }).notNull(),
    offeredUntil: time("offered_until").notNull(),
    leaseUntil: time("lease_until"),
    /** The runner is lost at this time, unless a heartbeat moves it. */
    lostAt: time("lost_at"),
    outcome: text("outcome", { enum: ATTEMPT_OUTCOMES }),
    /** JSON: the completion, to recognize the same one sent again. */
    completion: text("completion"),
    createdAt: createdAt(),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
    tokenId: id("token_id").notNull(),
    /** The start plus `max_run_seconds` of the pool. At this time the runner is told to cancel. */
    runUntil: time("run_until"),
    /** Whether the log of the attempt still has to be told of its end. */
    isLogPending: integer("log_pending", { mode: "boolean" }).notNull().default(false),
    /** Empty: the runner sends none. */
    runnerName: text("runner_name").notNull(),
    /** JSON: see `Checked`. Null before the start, and once the attempt has ended. */
    checked: text("checked"),
  },
  (table) => [
    check("attempts_one_run", sql`(deployment_id is null) <> (plan_id is null)`),
    uniqueIndex("attempts_request").on(table.poolId, table.requestId),
    uniqueIndex("attempts_live").on(table.environmentId).where(sql`state <> ${attemptState.ended}`),
    index("attempts_token")
      .on(table.tokenId, table.createdAt, table.id)
      .where(sql`state <> ${attemptState.ended}`),
    index("attempts_runner")
      .on(table.tokenId, table.runnerName, table.createdAt)
      .where(sql`state <> ${attemptState.ended}`),
    index("attempts_pool")
      .on(table.poolId, table.createdAt, table.id)
      .where(sql`state <> ${attemptState.ended}`),
    index("attempts_environment").on(table.environmentId),
    index("attempts_deployment").on(table.deploymentId),
    index("attempts_log_pending")
      .on(table.endedAt)
      .where(sql`log_pending = 1 and state = ${attemptState.ended}`),
  ],
);

/** Without those that are over and that `expire` has not ended yet. */
export function isLiveAttempt(now: number): SQL {
  return sql`case ${attempts.state} when ${attemptState.offered} then ${attempts.offeredUntil} > ${now}
    when ${attemptState.running} then ${attempts.lostAt} > ${now} end`;
}

function literalsOf<State extends string>(states: readonly State[]): Record<State, SQL> {
  const literals = states.map((state) => [state, sql.raw(`'${state}'`)]);
  return Object.fromEntries(literals) as Record<State, SQL>;
}

export function literalList<State extends string>(states: readonly State[]): SQL {
  return sql.raw(`(${states.map((state) => `'${state}'`).join(", ")})`);
}
