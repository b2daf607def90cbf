import { and, eq, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import {
  hasName,
  keyset,
  limitPageBytes,
  type NamedPageRequest,
  PAGE_POSITION,
  sizeOf,
} from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import {
  ENVIRONMENT_COLUMNS,
  ENVIRONMENT_TOMBSTONE,
  environments,
} from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { selectRules } from "../access/index.ts";

export type NewEnvironment = typeof environments.$inferSelect;
export type EnvironmentRow = NewEnvironment & {
  position: number | null;
  urlStackId: string | null;
};
export type FoundEnvironment = Awaited<ReturnType<typeof findEnvironment>>[number];

const within = (organizationId: string, id: string | SQL) =>
  and(
    eq(environments.organizationId, organizationId),
    eq(environments.id, id),
    isInLivePlace(environments),
  );

export function findEnvironment(db: Database, actor: Actor, id: string | SQL) {
  return db
    .select({
      ...ENVIRONMENT_COLUMNS,
      environmentId: sql<string>`${environments.id}`.as("own_environment_id"),
      rules: selectRules(environments.id),
      memberRole: MEMBER_ROLE,
    })
    .from(environments)
    .leftJoin(projectMembers, isRoleOf(actor, environments.projectId))
    .where(within(actor.organizationId, id));
}

export function listEnvironments(
  db: Database,
  actor: Actor,
  projectId: string,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, environments.createdAt, environments.id);
  const { id, createdAt, name, configuration } = environments;
  const size = sizeOf({ json: [configuration], text: [name], rest: 250 });
  const items = db
    .select({ id, createdAt, size })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, actor.organizationId),
        eq(environments.projectId, projectId),
        isOneOf(environments.id, actor.environmentIds),
        hasName(page, environments.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...ENVIRONMENT_COLUMNS, ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(environments, sql`${id} = page.id`);
}

export function insertEnvironment(db: Database, environment: NewEnvironment) {
  return db.insert(environments).values(environment);
}

export function selectEnvironment(db: Database, organizationId: string, id: string) {
  return db.select(ENVIRONMENT_COLUMNS).from(environments).where(within(organizationId, id));
}

/** The other fields stay as they are. */
export type EnvironmentChange = {
  [Name in "name" | "configuration" | "urlStackId"]?: EnvironmentRow[Name] | undefined;
};

/**
 * Changes nothing if the request expects another version, if the configuration differs and a deployment is running,
 * or if the environment no longer has the stacks that the configuration needs.
 * @param needed The names of these stacks.
 */
export function changeEnvironment(
  ctx: ServiceContext,
  id: string,
  change: Omit<EnvironmentChange, "urlStackId">,
  needed: readonly string[],
) {
  const { db, actor, clock } = ctx;
  const { configuration } = change;
  const isIdle = sql`not exists (select 1 from deployments
    where deployments.environment_id = ${id}
      and deployments.status in ('in_progress', 'canceling'))`;
  const isSame =
    configuration === undefined ? undefined : eq(environments.configuration, configuration);
  return db
    .update(environments)
    .set({
      ...change,
      updatedAt: clock.now(),
      version: nextVersion(environments.version),
    })
    .where(
      and(
        within(actor.organizationId, id),
        hasExpectedVersion(ctx, environments.version),
        isSame && or(isSame, isIdle),
        needed.length === 0 ? undefined : hasStacks(id, needed),
      ),
    )
    .returning(ENVIRONMENT_COLUMNS);
}

/** Changes nothing if the request expects another version. For what belongs to the environment, such as an order. */
export function raiseVersion(ctx: ServiceContext, id: string, condition: SQL) {
  return ctx.db
    .update(environments)
    .set({ version: nextVersion(environments.version) })
    .where(
      and(
        within(ctx.actor.organizationId, id),
        hasExpectedVersion(ctx, environments.version),
        condition,
      ),
    )
    .returning(ENVIRONMENT_COLUMNS);
}

/** The names of the stacks of an environment, in NFC. */
export function listStackNames(db: Database, organizationId: string, id: string) {
  return db
    .select({ name: stacks.name })
    .from(stacks)
    .where(and(eq(stacks.organizationId, organizationId), eq(stacks.environmentId, id)));
}

function hasStacks(id: string, names: readonly string[]): SQL {
  return sql`(select count(*) from stacks where stacks.environment_id = ${id}
    and stacks.name in (select value from json_each(${JSON.stringify(names)}))) = ${names.length}`;
}

export function findStackOf(db: Database, environmentId: string, stackId: string) {
  return db
    .select({ id: stacks.id })
    .from(stacks)
    .where(and(eq(stacks.id, stackId), eq(stacks.environmentId, environmentId)));
}

/** Precedes the change of the environment, and has the same conditions. */
export function showUrlOf(ctx: ServiceContext, id: string, stackId: string | null) {
  const { db, actor } = ctx;
  const resource = within(actor.organizationId, id);
  return db
    .update(stacks)
    .set({ showsUrl: sql`${stacks.id} is ${stackId}` })
    .where(
      and(
        eq(stacks.environmentId, id),
        sql`(${stacks.showsUrl} = 1 or ${stacks.id} is ${stackId})`,
        resourceHasExpectedVersion(ctx, environments.version, resource),
      ),
    );
}

/**
 * Deletes nothing if the environment is its project's default or has an unfinished deployment:
 * `found` then says which.
 */
export function deleteEnvironment(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const isDefault = db
    .select({ one: sql`1` })
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), eq(projects.defaultEnvironmentId, id)));
  const isIdle = ownership.isIdle(environments, id);
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, environments.version, resource);
  const isDeletable = sql`${notExists(isDefault)} and ${isIdle} and ${isExpected}`;
  return {
    purge: markForPurge(
      ctx,
      "environment",
      environments,
      and(within(organizationId, id), isDeletable),
    ),
    owned: ownership.deletionOf(db, environments, id, isDeletable),
    found: db
      .select({ id: environments.id, isIdle: sql<number>`${isIdle}` })
      .from(environments)
      .where(within(organizationId, id)),
    deleted: db
      .update(environments)
      .set(ENVIRONMENT_TOMBSTONE)
      .where(and(within(organizationId, id), isDeletable))
      .returning({ id: environments.id }),
  };
}
