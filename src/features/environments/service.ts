import { authorize, requireExpectedVersion, type ServiceContext } from "../../context.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mergePatch } from "../../lib/merge-patch.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { recordResult, recordRow } from "../idempotency/index.ts";
import { findProject, requireProject } from "../projects/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { EnvironmentInput } from "./model.ts";
import { presentEnvironment } from "./presenters.ts";
import type { EnvironmentRow } from "./store.ts";
import * as store from "./store.ts";

const changes = changeRecorder(
  "environment",
  (row: EnvironmentRow) => row.projectId,
  presentEnvironment,
);

const refuseTakenName = conflictIfTaken(
  ["environments.project_id", "environments.name"],
  "The project already has an environment with this name. Choose another name.",
);

export async function requireEnvironment(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<EnvironmentRow> {
  const [environment] = await store.findEnvironment(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "environment", environment, needed);
}

export async function listEnvironments(
  ctx: ServiceContext,
  projectId: string,
  page: NamedPageRequest,
): Promise<Page<EnvironmentRow>> {
  const [[project], rows] = await ctx.db.batch([
    findProject(ctx.db, ctx.actor, projectId),
    store.listEnvironments(ctx.db, ctx.actor, projectId, page),
  ]);
  authorize(ctx.actor, "project", project, "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createEnvironment(
  ctx: ServiceContext,
  projectId: string,
  input: EnvironmentInput,
): Promise<EnvironmentRow> {
  const { organizationId } = await requireProject(ctx, projectId, "contributor");
  const now = ctx.clock.now();
  const environment: EnvironmentRow = {
    id: newId(ctx.clock),
    organizationId,
    projectId,
    name: input.name,
    configuration: JSON.stringify(input.configuration),
    createdAt: now,
    updatedAt: now,
    epoch: 0,
    startedNumber: 0,
    configurationVersion: 0,
    recordVersion: 1,
  };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { environments: 1 },
    bytes: bytesOf(environment.name, environment.configuration),
  });
  const statements = {
    limits: limits.statement,
    created: store.insertEnvironment(ctx.db, environment),
    recorded: recordResult(ctx, environment, { json: ["configuration"] }),
  };
  await limits.enforce(
    refuseTakenName(commitChange(ctx, statements, changes.created(environment))),
  );
  return environment;
}

export async function getEnvironment(ctx: ServiceContext, id: string): Promise<EnvironmentRow> {
  return requireEnvironment(ctx, id, "viewer");
}

/**
 * Throws `Conflict` for a changed configuration while a deployment is running: its success would
 * overwrite the change.
 */
export async function replaceEnvironment(
  ctx: ServiceContext,
  id: string,
  { name, configuration }: EnvironmentInput,
): Promise<EnvironmentRow> {
  return changeEnvironment(ctx, id, { name, configuration: JSON.stringify(configuration) });
}

export async function updateEnvironment(
  ctx: ServiceContext,
  id: string,
  change: { name?: string | undefined },
): Promise<EnvironmentRow> {
  return changeEnvironment(ctx, id, change);
}

async function changeEnvironment(
  ctx: ServiceContext,
  id: string,
  fields: store.EnvironmentChange,
): Promise<EnvironmentRow> {
  const before = await requireEnvironment(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentEnvironment(before));
  const { organizationId } = before;
  const after = mergePatch(before, fields);
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: bytesOf(after.name, after.configuration) - bytesOf(before.name, before.configuration),
  });
  const statements = {
    limits: limits.statement,
    changed: store.changeEnvironment(ctx, id, fields),
    recorded: recordRow(ctx, store.selectEnvironment(ctx.db, organizationId, id), {
      json: ["configuration"],
    }),
  };
  const results = await limits.enforce(
    refuseTakenName(commitChange(ctx, statements, changes.updated(before, after))),
  );
  if (!results) return before;
  const [environment] = results.changed;
  if (environment) return environment;
  const now = await requireEnvironment(ctx, id, "contributor");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentEnvironment(now));
  throw new Conflict(
    "A deployment of the environment is running. Change the configuration after it has ended.",
  );
}

export async function deleteEnvironment(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireEnvironment(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentEnvironment(before));
  const statements = store.deleteEnvironment(ctx, before.organizationId, id);
  const results = await commitChange(ctx, statements, changes.deleted(before));
  if (results.deleted.length > 0) return;
  const [remaining] = results.remaining;
  if (!remaining) throw new NotFound("environment");
  const now = await requireEnvironment(ctx, id, "contributor");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentEnvironment(now));
  throw new Conflict(
    remaining.isIdle
      ? "This is the project's default environment. Make another the default first."
      : "The environment has an unfinished deployment. Cancel it first.",
  );
}
