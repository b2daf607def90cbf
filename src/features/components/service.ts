import type { ServiceContext } from "../../context.ts";
import { authorize, requireExpectedVersion } from "../../context.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mergePatch } from "../../lib/merge-patch.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { findEnvironment, requireEnvironment } from "../environments/index.ts";
import { recordResult, recordRow } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { ComponentInput } from "./model.ts";
import { presentComponent } from "./presenters.ts";
import type { ComponentRow } from "./store.ts";
import * as store from "./store.ts";

const changes = changeRecorder("component", (row: ComponentRow) => row.projectId, presentComponent);

const refuseTakenName = conflictIfTaken(
  ["components.environment_id", "components.name"],
  "The environment already has a component with this name. Choose another name.",
);

async function requireComponent(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<ComponentRow> {
  const [component] = await store.findComponent(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "component", component, needed);
}

export async function listComponents(
  ctx: ServiceContext,
  environmentId: string,
  page: NamedPageRequest,
): Promise<Page<ComponentRow>> {
  const [[environment], rows] = await ctx.db.batch([
    findEnvironment(ctx.db, ctx.actor, environmentId),
    store.listComponents(ctx.db, ctx.actor.organizationId, environmentId, page),
  ]);
  authorize(ctx.actor, "environment", environment, "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createComponent(
  ctx: ServiceContext,
  environmentId: string,
  input: ComponentInput,
): Promise<ComponentRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  const { organizationId, projectId } = environment;
  const now = ctx.clock.now();
  const scope = { organizationId, projectId, environmentId };
  const times = { createdAt: now, updatedAt: now };
  const component = { id: newId(ctx.clock), ...scope, ...input, ...times, recordVersion: 1 };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { components: 1 },
    bytes: bytesOf(component.name),
  });
  const statements = {
    limits: limits.statement,
    created: store.insertComponent(ctx.db, component),
    recorded: recordResult(ctx, component),
  };
  await limits.enforce(refuseTakenName(commitChange(ctx, statements, changes.created(component))));
  return component;
}

export async function getComponent(ctx: ServiceContext, id: string): Promise<ComponentRow> {
  return requireComponent(ctx, id, "viewer");
}

/** PUT sends all fields, PATCH some. */
export async function changeComponent(
  ctx: ServiceContext,
  id: string,
  change: store.ComponentChange,
): Promise<ComponentRow> {
  const before = await requireComponent(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentComponent(before));
  const { organizationId } = before;
  const statements = {
    changed: store.changeComponent(ctx, organizationId, id, change),
    recorded: recordRow(ctx, store.selectComponent(ctx.db, organizationId, id)),
  };
  const results = await refuseTakenName(
    commitChange(ctx, statements, changes.updated(before, mergePatch(before, change))),
  );
  if (!results) return before;
  const [component] = results.changed;
  return component ?? refuseOtherVersion(ctx, id);
}

export async function deleteComponent(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireComponent(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentComponent(before));
  const statements = store.deleteComponent(ctx, before.organizationId, id);
  const { deleted } = await commitChange(ctx, statements, changes.deleted(before));
  if (deleted.length === 0) await refuseOtherVersion(ctx, id);
}

/** A write changes nothing only if the component is gone or has another version. */
async function refuseOtherVersion(ctx: ServiceContext, id: string): Promise<never> {
  const now = await requireComponent(ctx, id, "contributor");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentComponent(now));
  throw new NotFound("component");
}
