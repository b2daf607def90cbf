import { and, eq, getTableColumns } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import { COMPONENT_TOMBSTONE, components } from "../../tenancy/component-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { selectRules } from "../access/index.ts";

export type ComponentRow = typeof components.$inferSelect;
export type FoundComponent = Awaited<ReturnType<typeof findComponent>>[number];

const within = (organizationId: string, id: string) =>
  and(
    eq(components.organizationId, organizationId),
    eq(components.id, id),
    isInLivePlace(components),
  );

export function findComponent(db: Database, actor: Actor, id: string) {
  return db
    .select({
      ...getTableColumns(components),
      rules: selectRules(components.environmentId),
      memberRole: MEMBER_ROLE,
    })
    .from(components)
    .leftJoin(projectMembers, isRoleOf(actor, components.projectId))
    .where(within(actor.organizationId, id));
}

export function listComponents(
  db: Database,
  organizationId: string,
  environmentId: string,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, components.createdAt, components.id);
  return db
    .select()
    .from(components)
    .where(
      and(
        eq(components.organizationId, organizationId),
        eq(components.environmentId, environmentId),
        hasName(page, components.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function insertComponent(db: Database, component: ComponentRow) {
  return db.insert(components).values(component);
}

export function selectComponent(db: Database, organizationId: string, id: string) {
  return db.select().from(components).where(within(organizationId, id));
}

/** The other fields stay as they are. */
export type ComponentChange = {
  [Name in "name" | "kind"]?: ComponentRow[Name] | undefined;
};

export function changeComponent(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  change: ComponentChange,
) {
  const { version } = components;
  return ctx.db
    .update(components)
    .set({ ...change, updatedAt: ctx.clock.now(), version: nextVersion(version) })
    .where(and(within(organizationId, id), hasExpectedVersion(ctx, version)))
    .returning();
}

export function deleteComponent(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, components.version, resource);
  const isDeletable = and(resource, hasExpectedVersion(ctx, components.version));
  return {
    purge: markForPurge(ctx, "component", components, isDeletable),
    owned: ownership.deletionOf(db, components, id, isExpected),
    deleted: db
      .update(components)
      .set(COMPONENT_TOMBSTONE)
      .where(isDeletable)
      .returning({ id: components.id }),
  };
}
