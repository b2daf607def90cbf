import type { AttemptState, DeploymentStatus } from "../deployments/index.ts";
import { declaredLogOf } from "../deployments/model.ts";
import type { EndedAttempt, Run } from "./run.ts";

/** The deployment, and its only attempt that has started. */
export interface RunRow {
  deploymentId: string;
  status: DeploymentStatus;
  /** A JSON array, in the order of the deployment. */
  stacks: string;
  attemptId: string | null;
  state: AttemptState | null;
  lostAt: number | null;
  endedAt: number | null;
  completion: string | null;
  isLogPending: number | null;
}

/** In SQL, which the object of a log sends without Drizzle. */
export const RUN_COLUMNS = {
  deploymentId: "deployments.id",
  status: "deployments.status",
  stacks: `(select json_group_array(json_object('id', item.stack_id, 'status', item.status))
    from (select * from deployment_stacks where deployment_id = deployments.id order by position)
    as item)`,
  attemptId: "attempts.id",
  state: "attempts.state",
  lostAt: "attempts.lost_at",
  endedAt: "attempts.ended_at",
  completion: "attempts.completion",
  isLogPending: "attempts.log_pending",
} as const satisfies Record<keyof RunRow, string>;

export const IS_STARTED_ATTEMPT =
  "attempts.deployment_id = deployments.id and attempts.started_at is not null";

const COLUMNS = Object.entries(RUN_COLUMNS).map(([name, column]) => `${column} as ${name}`);

/** Of any deployment whose environment and organization are not deleted. */
const SELECT_RUN = `select ${COLUMNS.join(", ")}
  from deployments left join attempts on ${IS_STARTED_ATTEMPT}
  where deployments.id = ?1
    and exists (select 1 from environments as owner join projects as place on place.id = owner.project_id
      and place.organization_id = owner.organization_id
      where owner.id = deployments.environment_id and owner.organization_id = deployments.organization_id)
    and exists (select 1 from organizations as live where live.id = deployments.organization_id
      and live.name <> char(127) || live.id)`;

/** For the log itself, which belongs to no caller. Reads from the primary. */
export function findRun(d1: D1Database, deploymentId: string): Promise<RunRow | null> {
  return d1.withSession("first-primary").prepare(SELECT_RUN).bind(deploymentId).first<RunRow>();
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
