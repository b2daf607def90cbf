import { authorize, hasBoundaries, requireOwnOrganization } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { NotFound, Unauthorized } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { mergePatch } from "../../../lib/merge-patch.ts";
import { orgRoleReaches, type ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { changesOf } from "../../housekeeping/changelog/index.ts";
import { requireProjectAuthority } from "../access/index.ts";
import {
  FIRST_CONFIGURATION,
  NAME_TAKEN,
  type NewProject,
  PROJECT_IN_USE,
  type ProjectChange,
} from "./model.ts";
import { presentProject } from "./presenters.ts";
import type { ProjectRow } from "./store.ts";
import * as store from "./store.ts";

const FIRST_ENVIRONMENT = "production";

export const ONLY_IN_PROJECTS = "This key is narrowed to projects, so it cannot create one.";

const changes = changesOf("project", (row: ProjectRow) => row.id, presentProject);

export async function requireProject(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<ProjectRow> {
  const [project] = await store.findProject(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "project", project, needed);
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string): Promise<ProjectRow> {
  const project = await requireProject(ctx, id, "owner");
  await requireExpectedVersion(ctx, project.version, () => presentProject(project));
  return project;
}

export async function listProjects(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<ProjectRow>> {
  requireOwnOrganization(ctx.actor, organizationId);
  const rows = orgRoleReaches(ctx.actor.role, "admin")
    ? await store.listProjects(ctx.db, ctx.actor, page)
    : await store.listProjectsOfMember(ctx.db, ctx.actor, page);
  return toPage(page, rows, (row) => row);
}

/** Needs no role: every member of the organization may create projects. */
export async function createProject(ctx: ServiceContext, input: NewProject): Promise<ProjectRow> {
  if (hasBoundaries(ctx.actor)) throw new Unauthorized(ONLY_IN_PROJECTS);
  const now = ctx.clock.now();
  const project: ProjectRow = {
    id: newId(ctx.clock),
    organizationId: ctx.actor.organizationId,
    ...input,
    defaultEnvironmentId: newId(ctx.clock),
    connectionStatus: "disconnected",
    disconnectedAt: null,
    disconnectedBy: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  const { owner, ...first } = store.insertProject(ctx.db, project, {
    environmentName: FIRST_ENVIRONMENT,
    ownerId: ctx.actor.membershipId,
  });
  return write(ctx, {
    growth: {
      organizationId: project.organizationId,
      records: { projects: 1, environments: 1, project_members: 1 },
      bytes: storedBytes(project) + bytesOf(FIRST_ENVIRONMENT, FIRST_CONFIGURATION),
    },
    first,
    guarded: owner,
    value: project,
    changes: [changes.created(project)],
    otherwise: () => NAME_TAKEN,
  });
}

export async function getProject(ctx: ServiceContext, id: string): Promise<ProjectRow> {
  return requireProject(ctx, id, "viewer");
}

/** PUT sends all fields, PATCH some. */
export async function changeProject(
  ctx: ServiceContext,
  id: string,
  change: ProjectChange,
): Promise<ProjectRow> {
  const before = await requireExpected(ctx, id);
  const { organizationId } = before;
  const after = mergePatch<ProjectRow>(before, change);
  return write(ctx, {
    growth: { organizationId, bytes: storedBytes(after) - storedBytes(before) },
    guarded: store.changeProject(ctx, organizationId, id, change),
    returns: store.selectProject(ctx.db, organizationId, id),
    changes: [changes.updated(before, after)],
    unchanged: before,
    reread: async () => requireFreeName(ctx, await requireExpected(ctx, id), change.name),
    otherwise: () => new NotFound("environment in the project"),
  });
}

async function requireFreeName(
  ctx: ServiceContext,
  { organizationId, name }: ProjectRow,
  newName = name,
): Promise<void> {
  if (newName === name) return;
  const named = await store.selectNamed(ctx.db, organizationId, newName);
  if (named.length > 0) throw NAME_TAKEN;
}

/** Has no entry in a changelog, which is deleted with the project. */
export async function deleteProject(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireExpected(ctx, id);
  await requireProjectAuthority(ctx, before);
  const { deleted, ...first } = store.deleteProject(ctx, before.organizationId, id);
  const target = { type: "project", id, name: before.name } as const;
  await write(ctx, {
    first,
    guarded: deleted,
    acts: [
      {
        action: "project.deleted",
        target,
        projectId: id,
        changes: { before: presentProject(before) },
      },
    ],
    reread: () => requireExpected(ctx, id),
    otherwise: () => PROJECT_IN_USE,
  });
}

function storedBytes({ name, description, icon }: ProjectRow): number {
  return bytesOf(name, description, icon);
}
