import {
  authorize,
  hasBoundaries,
  requireExpectedVersion,
  requireOwnOrganization,
  type ServiceContext,
} from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mergePatch } from "../../lib/merge-patch.ts";
import { orgRoleReaches, type ProjectRole } from "../../lib/roles.ts";
import { recordActs } from "../audit/index.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { recordResult, recordRow } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { FIRST_CONFIGURATION, type NewProject, type ProjectChange } from "./model.ts";
import { presentProject } from "./presenters.ts";
import type { ProjectRow } from "./store.ts";
import * as store from "./store.ts";

const FIRST_ENVIRONMENT = "production";

export const ONLY_IN_PROJECTS = "This key is narrowed to projects, so it cannot create one.";

const changes = changeRecorder("project", (row: ProjectRow) => row.id, presentProject);

export async function requireProject(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<ProjectRow> {
  const [project] = await store.readProject(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "project", project, needed);
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
    recordVersion: 1,
    createdAt: now,
    updatedAt: now,
  };
  const first = { environmentName: FIRST_ENVIRONMENT, ownerId: ctx.actor.membershipId };
  const limits = limitGrowth(ctx, {
    organizationId: project.organizationId,
    records: { projects: 1, environments: 1, project_members: 1 },
    bytes: storedBytes(project) + bytesOf(FIRST_ENVIRONMENT, FIRST_CONFIGURATION),
  });
  const statements = {
    limits: limits.statement,
    created: store.insertProject(ctx.db, project, first),
    recorded: recordResult(ctx, project),
  };
  await limits.enforce(commitChange(ctx, statements, changes.created(project)));
  return project;
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
  const before = await requireProject(ctx, id, "owner");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentProject(before));
  const { organizationId } = before;
  const after = mergePatch<ProjectRow>(before, change);
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: storedBytes(after) - storedBytes(before),
  });
  const statements = {
    limits: limits.statement,
    changed: store.changeProject(ctx, organizationId, id, change),
    recorded: recordRow(ctx, store.selectProject(ctx.db, organizationId, id)),
  };
  const results = await limits.enforce(
    commitChange(ctx, statements, changes.updated(before, after)),
  );
  if (!results) return before;
  const [project] = results.changed;
  if (project) return project;
  const now = await requireProject(ctx, id, "owner");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentProject(now));
  throw new NotFound("environment in the project");
}

export async function deleteProject(ctx: ServiceContext, id: string): Promise<void> {
  const project = await requireProject(ctx, id, "owner");
  await requireExpectedVersion(ctx, project.recordVersion, () => presentProject(project));
  const act = {
    action: "project.deleted",
    target: { type: "project", id, name: project.name },
    projectId: id,
    changes: { before: presentProject(project) },
  } as const;
  const { deleted } = await runBatch(ctx.db, {
    ...store.deleteProject(ctx, project.organizationId, id),
    audit: recordActs(ctx, project.organizationId, [act]),
  });
  if (deleted.length > 0) return;
  const now = await requireProject(ctx, id, "owner");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentProject(now));
  throw new Conflict("The project has an unfinished deployment. Cancel it first.");
}

function storedBytes({ name, description, icon }: ProjectRow): number {
  return bytesOf(name, description, icon);
}
