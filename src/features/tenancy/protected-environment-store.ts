import { and, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { listOf } from "../../db/list-of.ts";

/** Null: all of the organization. The environments decide, if they are given. */
export interface Boundaries {
  projectIds: readonly string[] | null;
  environmentIds: readonly string[] | null;
}

/** One environment within the boundaries that has rules. Each condition has an index. */
export function findProtectedEnvironment(
  db: Database,
  organizationId: string,
  { projectIds, environmentIds }: Boundaries,
) {
  const within: SQL[] = [];
  if (environmentIds) within.push(sql`protection.environment_id in ${listOf(environmentIds)}`);
  else if (projectIds) within.push(sql`protection.project_id in ${listOf(projectIds)}`);
  return db
    .select({ name: sql<string>`place.name`.as("environment_name") })
    .from(
      sql`environment_protections as protection join environments as place on place.id = protection.environment_id`,
    )
    .where(
      and(
        sql`protection.organization_id = ${organizationId} and protection.rules <> '{}'`,
        ...within,
      ),
    )
    .limit(1);
}
