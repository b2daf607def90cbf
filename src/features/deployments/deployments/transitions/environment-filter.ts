import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

export type EnvironmentFilter =
  | { environment: string }
  | { project: string }
  | { organization: string }
  | { pool: string }
  | { attempt: string }
  | { deployment: string }
  | "everything";

export function matchesFilter(
  filter: EnvironmentFilter,
  environmentId: SQLWrapper,
): SQL | undefined {
  if (filter === "everything") return undefined;
  return sql`${environmentId} in ${environmentIdsOf(filter)}`;
}

/** In parentheses. */
export function environmentIdsOf(filter: Exclude<EnvironmentFilter, string>): SQL {
  if ("environment" in filter) return sql`(${filter.environment})`;
  if ("project" in filter) {
    return sql`(select id from environments where project_id = ${filter.project})`;
  }
  if ("organization" in filter) {
    return sql`(select id from environments where organization_id = ${filter.organization})`;
  }
  if ("pool" in filter) {
    return sql`(select environment_id from runner_pool_environments where pool_id = ${filter.pool})`;
  }
  if ("deployment" in filter) {
    return sql`(select environment_id from deployments where id = ${filter.deployment})`;
  }
  return sql`(select environment_id from attempts where id = ${filter.attempt})`;
}
