import { and, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { apiKeys } from "../../api-keys/table.ts";
import { memberships } from "../../memberships/table.ts";
import { projectMembers } from "../../project-members/table.ts";
import { projects } from "../../projects/table.ts";
import { STATE_MS, type State } from "./state.ts";

/**
 * Who asked for an installation, with what they may do now in the project. Nobody, if their key, their
 * membership or the project has gone.
 */
export function findInstaller(db: Database, state: State, now: number) {
  return db
    .select({
      keyId: apiKeys.id,
      keyRole: apiKeys.role,
      organizationId: apiKeys.organizationId,
      membershipId: apiKeys.membershipId,
      accountId: memberships.accountId,
      membershipRole: sql<typeof memberships.$inferSelect.role>`${memberships.role}`.as("org_role"),
      memberRole: sql<typeof projectMembers.$inferSelect.role | null>`${projectMembers.role}`.as(
        "member_role",
      ),
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
    .where(
      and(eq(apiKeys.id, state.keyId), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now))),
    );
}

/** Whether the integration of a state was ever made: its making stays in the changelog. */
export function isUsed({ integrationId, projectId, expiresAt }: State): SQL {
  return sql`exists (select 1 from changelog_entries as entry
    where entry.project_id = ${projectId} and entry.record_id = ${integrationId}
      and entry.created_at >= ${expiresAt - 2 * STATE_MS})`;
}
