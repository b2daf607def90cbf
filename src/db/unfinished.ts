import { type SQL, sql } from "drizzle-orm";

/** Deployments that are not finished. Literals: a partial index answers no parameter. */
export const UNFINISHED = sql.raw("('queued', 'in_progress', 'canceling')");

/**
 * Whether every deployment of a project or an environment is finished. Under a name of its own,
 * whatever statement it stands in.
 */
export function allFinished(scope: "project_id" | "environment_id", id: string): SQL {
  return sql`not exists (select 1 from deployments as live
    where live.${sql.raw(scope)} = ${id} and live.status in ${UNFINISHED})`;
}
