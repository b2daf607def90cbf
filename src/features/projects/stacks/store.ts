import { and, eq, getTableColumns, ne, type SQL, sql } from "drizzle-orm";
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
import { components } from "../../tenancy/component-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { STACK_TOMBSTONE, stacks } from "../../tenancy/stack-table.ts";
import { selectRules } from "../access/index.ts";

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

const environmentIdOf = (organizationId: string, id: string) =>
  sql`(select ${stacks.environmentId} from ${stacks} where ${within(organizationId, id)})`;

/** The configuration of a stack's environment, and its version. */
export function findConfigurationOf(db: Database, organizationId: string, id: string) {
  return db
    .select({
      configuration: environments.configuration,
      version: environments.configurationVersion,
    })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, organizationId),
        sql`${environments.id} = ${environmentIdOf(organizationId, id)}`,
      ),
    );
}

/** All stacks of a stack's environment. */
export function listSiblings(db: Database, organizationId: string, id: string) {
  return db
    .select({ name: stacks.name })
    .from(stacks)
    .where(
      and(
        eq(stacks.organizationId, organizationId),
        sql`${stacks.environmentId} = ${environmentIdOf(organizationId, id)}`,
      ),
    );
}

function hasConfiguration(environmentId: string, version: number): SQL {
  return sql`exists (select 1 from ${environments} where ${environments.id} = ${environmentId}
    and ${environments.configurationVersion} = ${version})`;
}

/** @param configurationVersion For another name: the version in which nothing needs the stack. */
export function changeStack(
  ctx: ServiceContext,
  { id, organizationId, environmentId }: StackRow,
  change: StackChange,
  configurationVersion: number | undefined,
) {
  const { version } = stacks;
  const isUnneeded =
    configurationVersion === undefined
      ? undefined
      : hasConfiguration(environmentId, configurationVersion);
  return ctx.db
    .update(stacks)
    .set({ ...change, updatedAt: ctx.clock.now(), version: nextVersion(version) })
    .where(and(within(organizationId, id), hasExpectedVersion(ctx, version), isUnneeded))
    .returning();
}

/** @param configurationVersion The version in which nothing needs the stack. */
export function deleteStack(
  ctx: ServiceContext,
  { id, organizationId, environmentId }: StackRow,
  configurationVersion: number,
) {
  const { db, ownership } = ctx;
  const isUnneeded = hasConfiguration(environmentId, configurationVersion);
  const isIdle = sql`${ownership.isIdle(stacks, id)} and ${isUnneeded}`;
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, stacks.version, resource);
  const isDeletable = and(resource, isIdle, hasExpectedVersion(ctx, stacks.version));
  return {
    purge: markForPurge(ctx, "stack", stacks, isDeletable),
    owned: ownership.deletionOf(db, stacks, id, sql`${isIdle} and ${isExpected}`),
    deleted: db.update(stacks).set(STACK_TOMBSTONE).where(isDeletable).returning({ id: stacks.id }),
  };
}
