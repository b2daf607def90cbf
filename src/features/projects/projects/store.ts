import { and, eq, exists, getTableColumns, notExists, or, type SQLWrapper, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import {
  hasExpectedVersion,
  nextVersion,
  resourceHasExpectedVersion,
} from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import {
  hasName,
  keyset,
  limitPageBytes,
  type NamedPageRequest,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";
import { PROJECT_TOMBSTONE, projects } from "../../tenancy/project-table.ts";
import { FIRST_CONFIGURATION, type ProjectChange } from "./model.ts";

export type ProjectRow = typeof projects.$inferSelect;

const within = (organizationId: string, id: string) =>
  and(eq(projects.organizationId, organizationId), eq(projects.id, id));

const PROJECT_WITH_ROLE = {
  ...getTableColumns(projects),
  projectId: sql<string>`${projects.id}`.as("own_project_id"),
  environmentId: NO_ENVIRONMENT,
  memberRole: MEMBER_ROLE,
};

export function findProject(db: Database, actor: Actor, id: string) {
  return db
    .select(PROJECT_WITH_ROLE)
    .from(projects)
    .leftJoin(projectMembers, isRoleOf(actor, projects.id))
    .where(within(actor.organizationId, id));
}

const SIZE = sizeOf({ text: [projects.name, projects.description, projects.icon], rest: 400 });

export function listProjects(db: Database, actor: Actor, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(page, projects.createdAt, projects.id);
  const items = db
    .select({ id: projects.id, createdAt: projects.createdAt, size: SIZE })
    .from(projects)
    .where(
      and(
        eq(projects.organizationId, actor.organizationId),
        isOneOf(projects.id, actor.projectIds),
        hasName(page, projects.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return selectPage(db, page, items);
}

function selectPage(db: Database, page: PageRequest, items: SQLWrapper) {
  return db
    .select({ ...getTableColumns(projects), ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(projects, sql`${projects.id} = page.id`);
}

export function listProjectsOfMember(db: Database, actor: Actor, page: NamedPageRequest) {
  const { where, orderBy, limit } = keyset(
    page,
    projectMembers.projectCreatedAt,
    projectMembers.projectId,
  );
  const items = db
    .select({ id: projects.id, createdAt: projects.createdAt, size: SIZE })
    .from(projectMembers)
    .innerJoin(
      projects,
      and(
        eq(projects.id, projectMembers.projectId),
        // Not those of deleted projects, which the purge removes.
        eq(projects.organizationId, projectMembers.organizationId),
      ),
    )
    .where(
      and(
        eq(projectMembers.membershipId, actor.membershipId),
        eq(projectMembers.organizationId, actor.organizationId),
        isOneOf(projectMembers.projectId, actor.projectIds),
        hasName(page, projects.name),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return selectPage(db, page, items);
}

/** Inserts nothing if the organization has a project with this name. */
export function insertProject(
  db: Database,
  project: ProjectRow,
  first: { environmentName: string; ownerId: string },
) {
  const { organizationId, createdAt, updatedAt } = project;
  const isInserted = sql`from ${projects} where ${projects.id} = ${project.id}`;
  return {
    project: insertFrom(
      db,
      projects,
      project,
      sql`where not exists ${selectNamed(db, organizationId, project.name)}`,
    ),
    environment: insertFrom(
      db,
      environments,
      {
        id: project.defaultEnvironmentId,
        organizationId,
        projectId: project.id,
        name: first.environmentName,
        configuration: FIRST_CONFIGURATION,
        source: null,
        epoch: 0,
        startedNumber: 0,
        configurationVersion: 0,
        version: 1,
        createdAt,
        updatedAt,
      },
      isInserted,
    ),
    owner: insertFrom(
      db,
      projectMembers,
      {
        projectId: project.id,
        membershipId: first.ownerId,
        organizationId,
        role: "owner",
        createdAt,
        projectCreatedAt: createdAt,
        version: 1,
      },
      isInserted,
    ).returning({ projectId: projectMembers.projectId }),
  };
}

/** Some project with the name: those that share one keep it until they are renamed. */
export function selectNamed(db: Database, organizationId: string, name: string) {
  return db
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), eq(projects.name, name)))
    .limit(1);
}

export function selectProject(db: Database, organizationId: string, id: string) {
  return db.select().from(projects).where(within(organizationId, id));
}

/**
 * Changes nothing if the request expects another version, if another project has the new name, or if the
 * environment is not the project's.
 */
export function changeProject(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  change: ProjectChange,
) {
  const { db, clock } = ctx;
  const { name, defaultEnvironmentId } = change;
  const { version } = projects;
  return db
    .update(projects)
    .set({ ...change, updatedAt: clock.now(), version: nextVersion(version) })
    .where(
      and(
        within(organizationId, id),
        hasExpectedVersion(ctx, version),
        name === undefined
          ? undefined
          : or(eq(projects.name, name), notExists(selectNamed(db, organizationId, name))),
        defaultEnvironmentId === undefined
          ? undefined
          : isInProject(db, organizationId, id, defaultEnvironmentId),
      ),
    )
    .returning();
}

function isInProject(db: Database, organizationId: string, id: string, environmentId: string) {
  const environment = db
    .select({ one: sql`1` })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, organizationId),
        eq(environments.id, environmentId),
        eq(environments.projectId, id),
      ),
    );
  return exists(environment);
}

export function deleteProject(ctx: ServiceContext, organizationId: string, id: string) {
  const { db, ownership } = ctx;
  const isIdle = ownership.isIdle(projects, id);
  const resource = within(organizationId, id);
  const isExpected = resourceHasExpectedVersion(ctx, projects.version, resource);
  const isDeletable = and(resource, isIdle, hasExpectedVersion(ctx, projects.version));
  return {
    purge: markForPurge(ctx, "project", projects, isDeletable),
    owned: ownership.deletionOf(db, projects, id, sql`${isIdle} and ${isExpected}`),
    deleted: db
      .update(projects)
      .set(PROJECT_TOMBSTONE)
      .where(isDeletable)
      .returning({ id: projects.id }),
  };
}
