import { and, type Column, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import {
  keyset,
  limitPageBytes,
  matchingOf,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import { rowBytes } from "../../../db/row-bytes.ts";
import { listSomeOrganizations } from "../../../db/some-organizations.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { hasUnpurged } from "../../housekeeping/purge/index.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { isDeleted, resources } from "./table.ts";

export type ResourceRow = typeof resources.$inferSelect;

export interface ResourceScope {
  kind: "stack" | "environment";
  id: string;
}

function columnOf(scope: ResourceScope): Column {
  return scope.kind === "stack" ? resources.stackId : resources.environmentId;
}

export function findResource(db: Database, actor: Actor, id: string, scope?: ResourceScope) {
  return db
    .select({ ...getTableColumns(resources), memberRole: MEMBER_ROLE })
    .from(resources)
    .leftJoin(projectMembers, isRoleOf(actor, resources.projectId))
    .where(
      and(
        eq(resources.organizationId, actor.organizationId),
        eq(resources.id, id),
        hasLiveOwner(stacks, resources.stackId),
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
  const { where } = keyset(page, resources.createdAt, resources.id);
  const { id, createdAt, templateId, physicalId, resourceType, statusReason } = resources;
  const size = sizeOf({ text: [templateId, physicalId, resourceType, statusReason], rest: 400 });
  const mayBeDeleted = hasUnpurged(organizationId);
  const isLive = sql`(not ${mayBeDeleted} or ${hasLiveOwner(stacks, resources.stackId)})`;
  const items = db
    .select({ id, createdAt, size: sql<number>`iif(${isLive}, ${size.sql}, 0)`.as("size") })
    .from(resources)
    .where(and(eq(resources.organizationId, organizationId), eq(columnOf(scope), scope.id), where));
  return db
    .select({ ...getTableColumns(resources), ...PAGE_POSITION })
    .from(limitPageBytes(page, matchingOf(page, items, mayBeDeleted)))
    .innerJoin(resources, sql`${id} = page.id`);
}

/** Of those that have been `DELETE_COMPLETE` since a time, the oldest. */
export function deleteDeletedUntil(db: Database, time: number, limit: number, now: number) {
  const some = sql`from resources where ${isDeleted}
    and ${resources.updatedAt} <= ${time} order by ${resources.updatedAt} limit ${limit}`;
  return {
    marked: markChanged(db, sql`${stacks.id} in (select stack_id ${some})`, now),
    deleted: db
      .delete(resources)
      .where(sql`resources.rowid in (select rowid ${some})`)
      .returning({ id: resources.id }),
  };
}

/** The schedule counts the bytes of the resources of these stacks again. */
export function markChanged(db: Database, where: SQL | undefined, now: number) {
  return db
    .update(stacks)
    .set({ resourcesChangedAt: now })
    .where(and(isNull(stacks.resourcesChangedAt), where));
}

/** Some of the organizations with stacks to count. */
export function listChangedOrganizations(db: Database, limit: number): Promise<string[]> {
  return listSomeOrganizations(db, stacks, sql`resources_changed_at is not null`, limit);
}

/** Counts the bytes of the stacks of each organization that have waited longest. */
export function countChanged(db: Database, organizationIds: readonly string[], ofEach: number) {
  const bytes = sql<number>`coalesce((select sum(${sql.raw(rowBytes(resources, "resources"))})
    from resources where resources.stack_id = stacks.id), 0)`;
  return db
    .update(stacks)
    .set({ resourceBytes: bytes, resourcesChangedAt: null })
    .where(
      sql`stacks.rowid in (select changed.rowid
        from json_each(${JSON.stringify(organizationIds)}) as item cross join stacks as changed
        where changed.rowid in (select rowid from stacks
          where organization_id = item.value and resources_changed_at is not null
          order by resources_changed_at limit ${ofEach}))`,
    )
    .returning({ organizationId: stacks.organizationId });
}
