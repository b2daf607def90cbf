import { and, eq, getTableColumns, notExists, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { components, projectMembers, projects, stacks, variables } from "../../db/schema.ts";
import { isRoleOf, MEMBER_ROLE } from "../projects/index.ts";
import { environments } from "./table.ts";

export type EnvironmentRow = typeof environments.$inferSelect;

const within = (organizationId: string, id: string) =>
  and(eq(environments.organizationId, organizationId), eq(environments.id, id));

/** An environment of the actor's organization, with the actor's role in its project. */
export function findEnvironment(db: Database, actor: Actor, id: string) {
  return db
    .select({ ...getTableColumns(environments), memberRole: MEMBER_ROLE })
    .from(environments)
    .leftJoin(projectMembers, isRoleOf(actor, environments.projectId))
    .where(within(actor.organizationId, id));
}

export function listEnvironments(
  db: Database,
  organizationId: string,
  projectId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, environments.createdAt, environments.id);
  return db
    .select()
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, organizationId),
        eq(environments.projectId, projectId),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function insertEnvironment(db: Database, environment: EnvironmentRow) {
  return db.insert(environments).values(environment);
}

export function replaceEnvironment(
  db: Database,
  organizationId: string,
  id: string,
  change: Pick<EnvironmentRow, "name" | "configuration" | "updatedAt">,
) {
  return db.update(environments).set(change).where(within(organizationId, id)).returning();
}

/**
 * Deletes an environment and what hangs from it, all or nothing: unless it is its project's
 * default. For one batch; the last statement tells.
 */
export function deleteEnvironment(db: Database, organizationId: string, id: string) {
  const notDefault = notExists(
    db
      .select({ found: sql`1` })
      .from(projects)
      .where(
        and(eq(projects.organizationId, organizationId), eq(projects.defaultEnvironmentId, id)),
      ),
  );
  return [
    db.delete(variables).where(and(eq(variables.environmentId, id), notDefault)),
    db.delete(stacks).where(and(eq(stacks.environmentId, id), notDefault)),
    db.delete(components).where(and(eq(components.environmentId, id), notDefault)),
    db
      .delete(environments)
      .where(and(within(organizationId, id), notDefault))
      .returning({ id: environments.id }),
  ] as const;
}
