import { and, type Column, eq, getTableColumns } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { projectMembers } from "../../db/schema.ts";
import { isRoleOf, MEMBER_ROLE } from "../projects/index.ts";
import { resources } from "./table.ts";

export type ResourceRow = typeof resources.$inferSelect;

/** What a resource is looked for in. */
export interface ResourceScope {
  kind: "stack" | "environment";
  id: string;
}

function columnOf(scope: ResourceScope): Column {
  return scope.kind === "stack" ? resources.stackId : resources.environmentId;
}

/** A resource of the actor's organization, with the actor's role in its project. */
export function findResource(db: Database, actor: Actor, id: string, scope?: ResourceScope) {
  return db
    .select({ ...getTableColumns(resources), memberRole: MEMBER_ROLE })
    .from(resources)
    .leftJoin(projectMembers, isRoleOf(actor, resources.projectId))
    .where(
      and(
        eq(resources.organizationId, actor.organizationId),
        eq(resources.id, id),
        scope && eq(columnOf(scope), scope.id),
      ),
    );
}

export function listResources(
  db: Database,
  organizationId: string,
  scope: ResourceScope,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, resources.createdAt, resources.id);
  return db
    .select()
    .from(resources)
    .where(and(eq(resources.organizationId, organizationId), eq(columnOf(scope), scope.id), where))
    .orderBy(...orderBy)
    .limit(limit);
}
