import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { mergePatch } from "../../../lib/merge-patch.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { changesOf } from "../../housekeeping/changelog/index.ts";
import { requireAccess } from "../access/index.ts";
import { findEnvironment, requireEnvironment } from "../environments/index.ts";
import { type ComponentInput, NAME_TAKEN } from "./model.ts";
import { presentComponent } from "./presenters.ts";
import type { ComponentRow, FoundComponent } from "./store.ts";
import * as store from "./store.ts";

const changes = changesOf("component", (row: ComponentRow) => row.projectId, presentComponent);

const taken = { "components.environment_id, components.name": NAME_TAKEN };

async function requireComponent(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<FoundComponent> {
  const [component] = await store.findComponent(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "component", component, needed);
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string): Promise<ComponentRow> {
  const component = await requireComponent(ctx, id, "contributor");
  await requireAccess(ctx, component, "configure");
  await requireExpectedVersion(ctx, component.version, () => presentComponent(component));
  return component;
}

export async function listComponents(
  ctx: ServiceContext,
  environmentId: string,
  page: NamedPageRequest,
): Promise<Page<ComponentRow>> {
  const { environments, rows } = await batch(ctx.db, {
    environments: findEnvironment(ctx.db, ctx.actor, environmentId),
    rows: store.listComponents(ctx.db, ctx.actor.organizationId, environmentId, page),
  });
  authorize(ctx.actor, "environment", environments[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createComponent(
  ctx: ServiceContext,
  environmentId: string,
  input: ComponentInput,
): Promise<ComponentRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  await requireAccess(ctx, environment, "configure");
  const { organizationId, projectId } = environment;
  const now = ctx.clock.now();
  const scope = { organizationId, projectId, environmentId };
  const times = { createdAt: now, updatedAt: now };
  const component = { id: newId(ctx.clock), ...scope, ...input, ...times, version: 1 };
  return write(ctx, {
    growth: { organizationId, records: { components: 1 }, bytes: bytesOf(component.name) },
    guarded: store.insertComponent(ctx.db, component),
    value: component,
    changes: [changes.created(component)],
    taken,
  });
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
  const before = await requireExpected(ctx, id);
  return write(ctx, {
    guarded: store.changeComponent(ctx, before.organizationId, id, change),
    returns: store.selectComponent(ctx.db, before.organizationId, id),
    changes: [changes.updated(before, mergePatch(before, change))],
    unchanged: before,
    taken,
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("component"),
  });
}

export async function deleteComponent(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireExpected(ctx, id);
  const { deleted, ...first } = store.deleteComponent(ctx, before.organizationId, id);
  await write(ctx, {
    first,
    guarded: deleted,
    changes: [changes.deleted(before)],
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("component"),
  });
}
