import { type Column, type SQL, sql } from "drizzle-orm";

/** The environments that a statement is about. */
export type Scope =
  | { environment: string }
  | { project: string }
  | { pool: string }
  | { attempt: string }
  | "everything";

/** Whether an environment is one of these; undefined for all of them. */
export function inScope(scope: Scope, environmentId: Column): SQL | undefined {
  if (scope === "everything") return undefined;
  return sql`${environmentId} in ${environmentsOf(scope)}`;
}

/** Their IDs, in parentheses. */
export function environmentsOf(scope: Exclude<Scope, string>): SQL {
  if ("environment" in scope) return sql`(${scope.environment})`;
  if ("project" in scope) {
    return sql`(select id from environments where project_id = ${scope.project})`;
  }
  if ("pool" in scope) {
    return sql`(select environment_id from runner_pool_environments where pool_id = ${scope.pool})`;
  }
  return sql`(select environment_id from attempts where id = ${scope.attempt})`;
}
