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
import { selectRules } from "../access/index.ts";

export type NewEnvironment = typeof environments.$inferSelect;
export type EnvironmentRow = NewEnvironment & { position: number | null };
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
  [Name in "name" | "configuration"]?: EnvironmentRow[Name] | undefined;
};

/**
 * Changes nothing if the request expects another version, or if the configuration differs and a deployment
 * is running.
 */
export function changeEnvironment(ctx: ServiceContext, id: string, change: EnvironmentChange) {
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
      ),
    )
    .returning(ENVIRONMENT_COLUMNS);
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
