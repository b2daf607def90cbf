import { and, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { apiKeys } from "../../api-keys/table.ts";
import { memberships } from "../../memberships/table.ts";
import { projectMembers } from "../../project-members/table.ts";
import { projects } from "../../projects/table.ts";
import { MAXIMUM_INTEGRATIONS } from "../integrations/index.ts";
import { integrations } from "../integrations/table.ts";
import { STATE_MS, type State } from "./state.ts";

export type NewIntegration = Pick<
  typeof integrations.$inferSelect,
  "id" | "organizationId" | "projectId" | "configuration" | "url" | "linksTo" | "createdAt"
>;

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

/** Writes nothing if the state was used before, or the project has as many as it may have. */
export function insertIntegration(db: Database, integration: NewIntegration, state: State) {
  const { id, organizationId, projectId, configuration, url, linksTo, createdAt } = integration;
  return db
    .insert(integrations)
    .select(
      sql`select ${id}, ${organizationId}, ${projectId}, 'slack', ${configuration}, ${url}, '',
          null, null, null, null, null, null, null, null, ${linksTo}, ${createdAt}, ${createdAt}
        where not ${isUsed(state)}
          and (select count(*) from integrations as beside where beside.project_id = ${projectId})
            < ${MAXIMUM_INTEGRATIONS}`,
    )
    .returning({ id: integrations.id });
}

/** Whether the integration of a state was ever made: its making stays in the changelog. */
function isUsed({ integrationId, projectId, expiresAt }: State): SQL {
  return sql`exists (select 1 from changelog_entries as entry
    where entry.project_id = ${projectId} and entry.record_id = ${integrationId}
      and entry.created_at >= ${expiresAt - 2 * STATE_MS})`;
}
