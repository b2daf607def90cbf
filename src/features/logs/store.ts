import { and, eq, inArray, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { hasLiveOwner, isLiveOrganization } from "../../db/tombstone.ts";
import { type AttemptKey, declaredLogOf } from "../deployments/index.ts";
import { attemptState, attempts, deployments } from "../deployments/table.ts";
import { environments } from "../environments/table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../project-members/table.ts";
import type { EndedAttempt, Run } from "./run.ts";

/** In the order of the deployment. */
const STACKS = sql<string>`(select json_group_array(json_object('id', item.stack_id,
    'status', item.status)) from (select * from deployment_stacks
    where deployment_id = deployments.id order by position) as item)`;

/** The deployment, and its only attempt that has started. */
const RUN = {
  deploymentId: sql<string>`${deployments.id}`.as("deployment_id"),
  status: sql<typeof deployments.$inferSelect.status>`${deployments.status}`.as("status"),
  stacks: STACKS.as("stacks"),
  attemptId: sql<string | null>`${attempts.id}`.as("attempt_id"),
  state: sql<typeof attempts.$inferSelect.state | null>`${attempts.state}`.as("state"),
  lostAt: sql<number | null>`${attempts.lostAt}`.as("lost_at"),
  endedAt: sql<number | null>`${attempts.endedAt}`.as("ended_at"),
  completion: sql<string | null>`${attempts.completion}`.as("completion"),
  isLogPending: sql<number | null>`${attempts.isLogPending}`.as("log_pending"),
};

const IS_STARTED_ATTEMPT = and(
  eq(attempts.deploymentId, deployments.id),
  sql`${attempts.startedAt} is not null`,
);

export type RunRow = Awaited<ReturnType<typeof findRun>>[number];

/** For the log itself, which belongs to no caller. Not of a record that is deleted and not purged yet. */
export function findRun(db: Database, deploymentId: string) {
  return db
    .select(RUN)
    .from(deployments)
    .leftJoin(attempts, IS_STARTED_ATTEMPT)
    .where(
      and(
        eq(deployments.id, deploymentId),
        hasLiveOwner(environments, deployments.environmentId),
        isLiveOrganization(deployments.organizationId),
      ),
    );
}

export function toRun({ status, stacks, attemptId, isLogPending }: RunRow): Run {
  return {
    status,
    stacks: JSON.parse(stacks) as Run["stacks"],
    hasStarted: attemptId !== null,
    isLogPending: isLogPending === 1,
  };
}

export function endedAttemptOf(row: RunRow): EndedAttempt | undefined {
  const { attemptId, endedAt, completion } = row;
  if (attemptId === null || endedAt === null) return undefined;
  return {
    attemptId,
    endedAt,
    declaration: completion === null ? null : declaredLogOf(completion),
  };
}

/** The run of a deployment that the actor may know. */
export function findRunOf(db: Database, actor: Actor, deploymentId: string) {
  return db
    .select({
      ...RUN,
      projectId: sql<string>`${deployments.projectId}`.as("project_id"),
      environmentId: sql<string>`${deployments.environmentId}`.as("environment_id"),
      memberRole: MEMBER_ROLE,
    })
    .from(deployments)
    .leftJoin(projectMembers, isRoleOf(actor, deployments.projectId))
    .leftJoin(attempts, IS_STARTED_ATTEMPT)
    .where(
      and(
        eq(deployments.organizationId, actor.organizationId),
        eq(deployments.id, deploymentId),
        hasLiveOwner(environments, deployments.environmentId),
      ),
    );
}

export function findAppendableAttempt(db: Database, { id, poolId }: AttemptKey) {
  return db
    .select({
      deploymentId: attempts.deploymentId,
      startedAt: attempts.startedAt,
      endedAt: attempts.endedAt,
      stackIds: sql<string>`(select json_group_array(stack_id) from deployment_stacks
        where deployment_stacks.deployment_id = attempts.deployment_id)`.as("stack_ids"),
    })
    .from(attempts)
    .where(
      and(
        eq(attempts.id, id),
        eq(attempts.poolId, poolId),
        hasLiveOwner(environments, attempts.environmentId),
      ),
    );
}

/** In a random order, so that none has to wait for those that fail. */
export function listPendingLogs(db: Database, limit: number) {
  return db
    .select({ attemptId: attempts.id, deploymentId: attempts.deploymentId })
    .from(attempts)
    .where(sql`log_pending = 1 and ${attempts.state} = ${attemptState.ended}`)
    .orderBy(sql`random()`)
    .limit(limit);
}

export function clearPendingLogs(db: Database, attemptIds: readonly string[]) {
  const ids = sql`(select value from json_each(${JSON.stringify(attemptIds)}))`;
  return db.update(attempts).set({ isLogPending: false }).where(inArray(attempts.id, ids));
}
