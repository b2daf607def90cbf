import { and, eq, getTableColumns, ne, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { isInLivePlace, TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { selectRules } from "../access/index.ts";
import { components } from "../components/table.ts";
import { STACK_TOMBSTONE, stacks } from "./table.ts";

export type StackRow = typeof stacks.$inferSelect;
export type FoundStack = Awaited<ReturnType<typeof findStack>>[number];

const within = (organizationId: string, id: string) =>
  and(eq(stacks.organizationId, organizationId), eq(stacks.id, id), isInLivePlace(stacks));

export function findStack(db: Database, actor: Actor, id: string) {
  return db
    .select({
      ...getTableColumns(stacks),
      rules: selectRules(stacks.environmentId),
      memberRole: MEMBER_ROLE,
    })
    .from(stacks)
    .leftJoin(projectMembers, isRoleOf(actor, stacks.projectId))
    .where(within(actor.organizationId, id));
}

export function listStacks(
  db: Database,
  organizationId: string,
  environmentId: string,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, stacks.createdAt, stacks.id);
  return db
    .select()
    .from(stacks)
    .where(
      and(
        eq(stacks.organizationId, organizationId),
        eq(stacks.environmentId, environmentId),
        hasName(page, stacks.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

export function findComponentOf(db: Database, environmentId: string, componentId: string) {
  const { organizationId } = components;
  return db
    .select({ id: components.id })
    .from(components)
    .where(
      and(
        eq(components.id, componentId),
        eq(components.environmentId, environmentId),
        ne(organizationId, TOMBSTONE_ORGANIZATION_ID),
      ),
    );
}

export function stackCountBound(organizationId: string, environmentId: string): Bound {
  const count = sql`(select count(*) from stacks where stacks.environment_id = ${environmentId}
    and stacks.organization_id = ${organizationId})`;
  return {
    what: "stacks in an environment",
    limit: LIMITS.stacksOfEnvironment.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

export function insertStack(db: Database, stack: StackRow) {
  return db.insert(stacks).values(stack);
}

export function selectStack(db: Database, organizationId: string, id: string) {
  return db.select().from(stacks).where(within(organizationId, id));
}

/** The other fields stay as they are. */
export type StackChange = {
  [Name in "name" | "componentId"]?: StackRow[Name] | undefined;
};

export function changeStack(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  change: StackChange,
) {
  const { version } = stacks;
  return ctx.db
    .update(stacks)
    .set({ ...change, updatedAt: ctx.clock.now(), version: nextVersion(version) })
    .where(and(within(organizationId, id), hasExpectedVersion(ctx, version)))
    .returning();
}

export function deleteStack(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const isIdle = ownership.isIdle(stacks, id);
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, stacks.version, resource);
  const isDeletable = and(resource, isIdle, hasExpectedVersion(ctx, stacks.version));
  return {
    purge: markForPurge(ctx, "stack", stacks, isDeletable),
    owned: ownership.deletionOf(db, stacks, id, sql`${isIdle} and ${isExpected}`),
    deleted: db.update(stacks).set(STACK_TOMBSTONE).where(isDeletable).returning({ id: stacks.id }),
  };
}
