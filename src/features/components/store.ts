import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Actor, SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../project-members/table.ts";
import { components } from "./table.ts";

export type ComponentRow = typeof components.$inferSelect;

const within = (organizationId: string, id: string) =>
  and(eq(components.organizationId, organizationId), eq(components.id, id));

export function findComponent(db: Database, actor: Actor, id: string) {
  return db
    .select({ ...getTableColumns(components), memberRole: MEMBER_ROLE })
    .from(components)
    .leftJoin(projectMembers, isRoleOf(actor, components.projectId))
    .where(within(actor.organizationId, id));
}

export function listComponents(
  db: Database,
  organizationId: string,
  environmentId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, components.createdAt, components.id);
  return db
    .select()
    .from(components)
    .where(
      and(
        eq(components.organizationId, organizationId),
        eq(components.environmentId, environmentId),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function insertComponent(db: Database, component: ComponentRow) {
  return db.insert(components).values(component);
}

export function replaceComponent(
  db: Database,
  organizationId: string,
  id: string,
  change: Pick<ComponentRow, "name" | "kind" | "updatedAt">,
) {
  return db.update(components).set(change).where(within(organizationId, id)).returning();
}

export function deleteComponent(
  { db, ownership }: SystemContext,
  organizationId: string,
  id: string,
) {
  return {
    records: ownership.deletionOf(db, components, id, sql`true`),
    deleted: db
      .delete(components)
      .where(within(organizationId, id))
      .returning({ id: components.id }),
  };
}
