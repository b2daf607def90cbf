import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import type { AttemptKey } from "../deployments/index.ts";
import { attemptState, attempts, deployments } from "../deployments/table.ts";
import { IS_STARTED_ATTEMPT, RUN_COLUMNS, type RunRow } from "./run-row.ts";

const RUN = Object.fromEntries(
  Object.entries(RUN_COLUMNS).map(([name, column]) => [name, sql.raw(column).as(name)]),
) as { [Name in keyof RunRow]: SQL.Aliased<RunRow[Name]> };

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
    .leftJoin(attempts, sql.raw(IS_STARTED_ATTEMPT))
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
