import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import {
  apiKeys,
  KEY_AUTHORITY,
  whereKeyIsLive,
} from "../../identity/credentials/api-key-table.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { NO_ENVIRONMENT, projectMembers } from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { STATE_TTL_MS, type State } from "./state.ts";

export function findInstaller(db: Database, state: State, now: number) {
  return db
    .select({
      ...KEY_AUTHORITY,
      accountId: memberships.accountId,
      membershipRole: sql<typeof memberships.$inferSelect.role>`${memberships.role}`.as("org_role"),
      memberRole: sql<typeof projectMembers.$inferSelect.role | null>`${projectMembers.role}`.as(
        "member_role",
      ),
      projectId: sql<string>`${projects.id}`.as("project_id"),
      environmentId: NO_ENVIRONMENT,
      projectName: projects.name,
      isUsed: sql<number>`${isUsed(state)}`.as("is_used"),
    })
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .innerJoin(
      projects,
      and(eq(projects.id, state.projectId), eq(projects.organizationId, apiKeys.organizationId)),
    )
    .leftJoin(
      projectMembers,
      and(
        eq(projectMembers.projectId, projects.id),
        eq(projectMembers.membershipId, apiKeys.membershipId),
      ),
    )
    .where(and(eq(apiKeys.id, state.keyId), whereKeyIsLive(now)));
}

/** The changelog outlives the integration. */
export function isUsed({ integrationId, projectId, expiresAt }: State): SQL {
  return sql`exists (select 1 from changelog_entries
    where changelog_entries.project_id = ${projectId}
      and changelog_entries.record_id = ${integrationId}
      and changelog_entries.created_at >= ${expiresAt - 2 * STATE_TTL_MS})`;
}
