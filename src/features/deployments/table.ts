import { type SQL, sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../db/columns.ts";
import { environments } from "../environments/table.ts";
import { organizations } from "../organizations/table.ts";
import { projects } from "../projects/table.ts";
import { runnerPools } from "../runner-pools/table.ts";
import {
  ATTEMPT_OUTCOMES,
  ATTEMPT_STATES,
  DEPLOYMENT_STATUSES,
  QUEUES,
  STACK_STATUSES,
} from "./lifecycle.ts";

const organizationId = () =>
  id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" });
const environmentId = () =>
  id("environment_id")
    .notNull()
    .references(() => environments.id, { onDelete: "restrict" });
const deploymentId = () =>
  id("deployment_id")
    .notNull()
    .references(() => deployments.id, { onDelete: "restrict" });

export const deployments = sqliteTable(
  "deployments",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    environmentId: environmentId(),
    /** The place in the environment's order: later deployments have higher ones. */
    number: integer("number").notNull(),
    status: text("status", { enum: DEPLOYMENT_STATUSES }).notNull(),
    /** The status that its events have told of. */
    announced: text("announced", { enum: DEPLOYMENT_STATUSES }).notNull().default("queued"),
    queue: text("queue", { enum: QUEUES }).notNull(),
    /** JSON: the operations, with what they replaced. */
    patch: text("patch").notNull(),
    /**
     * JSON: what the environment's configuration becomes if the deployment succeeds. Empty once
     * newer deployments have displaced it (LIMITS.redeployableDeployments).
     */
    configuration: text("configuration").notNull(),
    /** JSON. */
    source: text("source"),
    reason: text("reason"),
    failureReason: text("failure_reason"),
    message: text("message"),
    /** Set while canceling: then it is canceled, whatever its runner says. */
    cancelDeadline: time("cancel_deadline"),
    createdAt: createdAt(),
    startedAt: time("started_at"),
    finishedAt: time("finished_at"),
    updatedAt: updatedAt(),
    /**
     * The version of the environment's configuration that the patch and the copy are based on. Null
     * for one that was created before versions were.
     */
    configurationVersion: integer("configuration_version"),
    /**
     * Whether `configuration` is fixed at creation, as for redeploy and promote. Otherwise the patch
     * is applied again when the environment's configuration has changed before the start.
     */
    isAbsolute: integer("is_absolute", { mode: "boolean" }).notNull().default(true),
    /** How many offers have lapsed without a start. */
    lapsedOffers: integer("lapsed_offers").notNull().default(0),
  },
  (table) => [
    uniqueIndex("deployments_number").on(table.environmentId, table.number),
    uniqueIndex("deployments_active")
      .on(table.environmentId)
      .where(sql`status in ('in_progress', 'canceling')`),
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
    index("deployments_overdue").on(table.cancelDeadline).where(sql`status = 'canceling'`),
  ],
);

/** What a deployment does to each of its stacks. It outlives the stack, as history does. */
export const deploymentStacks = sqliteTable(
  "deployment_stacks",
  {
    deploymentId: deploymentId(),
    stackId: id("stack_id").notNull(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    position: integer("position").notNull(),
    status: text("status", { enum: STACK_STATUSES }).notNull(),
    statusReason: text("status_reason"),
    /** The sequence number of the newest report; 0 before the first. */
    seq: integer("seq").notNull(),
    timestamp: time("timestamp").notNull(),
    /** A copy, which the list of a stack's deployments walks. */
    deploymentCreatedAt: time("deployment_created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deploymentId, table.stackId] }),
    uniqueIndex("deployment_stacks_order").on(table.deploymentId, table.position),
    index("deployment_stacks_list").on(
      table.stackId,
      table.deploymentCreatedAt,
      table.deploymentId,
    ),
    index("deployment_stacks_environment").on(table.environmentId),
    index("deployment_stacks_unfinished")
      .on(table.environmentId, table.stackId)
      .where(sql`status in ('pending', 'in_progress')`),
  ],
);

/** A runner's hold on a deployment: first an offer, then a lease. */
export const attempts = sqliteTable(
  "attempts",
  {
    id: id("id").primaryKey(),
    organizationId: organizationId(),
    environmentId: environmentId(),
    deploymentId: deploymentId(),
    poolId: id("pool_id")
      .notNull()
      .references(() => runnerPools.id, { onDelete: "restrict" }),
    /** The claim's: sent again, it gives the same attempt. */
    requestId: text("request_id").notNull(),
    /** Rises with every attempt in the environment: the highest alone may act. */
    epoch: integer("epoch").notNull(),
    state: text("state", { enum: ATTEMPT_STATES }).notNull(),
    offeredUntil: time("offered_until").notNull(),
    leaseUntil: time("lease_until"),
    /** From then on the runner is lost, unless it is heard of before. */
    lostAt: time("lost_at"),
    outcome: text("outcome", { enum: ATTEMPT_OUTCOMES }),
    /** JSON: the body that completed it, to know it again. */
    completion: text("completion"),
    createdAt: createdAt(),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
    /** The runner token that claimed it. */
    tokenId: id("token_id"),
    /** From then on the runner is asked to cancel (`max_run_seconds` of its pool). */
    runUntil: time("run_until"),
  },
  (table) => [
    uniqueIndex("attempts_request").on(table.poolId, table.requestId),
    uniqueIndex("attempts_live").on(table.environmentId).where(sql`state <> 'ended'`),
    index("attempts_token")
      .on(table.tokenId, table.createdAt, table.id)
      .where(sql`state <> 'ended'`),
    index("attempts_environment").on(table.environmentId),
    index("attempts_deployment").on(table.deploymentId),
  ],
);

/** Deployments that are not finished. Literals: a partial index answers no parameter. */
export const ACTIVE_STATUSES = sql.raw("('queued', 'in_progress', 'canceling')");

/**
 * Whether every deployment of a project or an environment is finished. Under a name of its own,
 * whatever statement it stands in.
 */
export function noneActive(scope: "project_id" | "environment_id", id: string): SQL {
  return sql`not exists (select 1 from deployments as live
    where live.${sql.raw(scope)} = ${id} and live.status in ${ACTIVE_STATUSES})`;
}
