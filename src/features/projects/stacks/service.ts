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
import { COMPONENT, NAME_TAKEN, NO_OUTPUTS, STACK_IN_USE } from "./model.ts";
import { presentStack } from "./presenters.ts";
import type { FoundStack, StackRow } from "./store.ts";
import * as store from "./store.ts";

export type StackInput = Pick<StackRow, "name" | "componentId">;

const changes = changesOf("stack", (row: StackRow) => row.projectId, presentStack);

const taken = { "stacks.environment_id, stacks.name": NAME_TAKEN };

export async function requireStack(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<FoundStack> {
  const [stack] = await store.findStack(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "stack", stack, needed);
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string): Promise<StackRow> {
  const stack = await requireStack(ctx, id, "contributor");
  await requireAccess(ctx, stack, "deploy");
  await requireExpectedVersion(ctx, stack.version, () => presentStack(stack));
  return stack;
}

export async function listStacks(
  ctx: ServiceContext,
  environmentId: string,
  page: NamedPageRequest,
): Promise<Page<StackRow>> {
  const { environments, rows } = await batch(ctx.db, {
    environments: findEnvironment(ctx.db, ctx.actor, environmentId),
    rows: store.listStacks(ctx.db, ctx.actor.organizationId, environmentId, page),
  });
  authorize(ctx.actor, "environment", environments[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createStack(
  ctx: ServiceContext,
  environmentId: string,
  input: StackInput,
): Promise<StackRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  await requireAccess(ctx, environment, "deploy");
  await requireComponentOf(ctx, environmentId, input.componentId);
  const { organizationId, projectId } = environment;
  const now = ctx.clock.now();
  const scope = { organizationId, projectId, environmentId };
  const times = { createdAt: now, updatedAt: now };
  const stack = {
    id: newId(ctx.clock),
    ...scope,
    ...input,
    outputs: NO_OUTPUTS,
    ...times,
    version: 1,
    resourceBytes: 0,
    resourcesChangedAt: null,
  };
  return write(ctx, {
    growth: {
      organizationId,
      records: { stacks: 1 },
      bytes: bytesOf(stack.name, stack.outputs),
      bounds: [store.stackCountBound(organizationId, environmentId)],
    },
    guarded: store.insertStack(ctx.db, stack),
    value: stack,
    changes: [changes.created(stack)],
    taken,
  });
}

export async function getStack(ctx: ServiceContext, id: string): Promise<StackRow> {
  return requireStack(ctx, id, "viewer");
}

/** PUT sends all fields, PATCH some. */
export async function changeStack(
  ctx: ServiceContext,
  id: string,
  change: store.StackChange,
): Promise<StackRow> {
  const before = await requireExpected(ctx, id);
  const { organizationId, environmentId } = before;
  await requireComponentOf(ctx, environmentId, change.componentId ?? null);
  return write(ctx, {
    guarded: store.changeStack(ctx, organizationId, id, change),
    returns: store.selectStack(ctx.db, organizationId, id),
    changes: [changes.updated(before, mergePatch(before, change))],
    unchanged: before,
    taken,
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("stack"),
  });
}

export async function deleteStack(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireExpected(ctx, id);
  const { deleted, ...first } = store.deleteStack(ctx, before.organizationId, id);
  await write(ctx, {
    first,
    guarded: deleted,
    changes: [changes.deleted(before)],
    reread: () => requireExpected(ctx, id),
    otherwise: () => STACK_IN_USE,
  });
}

/** A component never changes its environment, so the check stays valid until the write. */
async function requireComponentOf(
  ctx: ServiceContext,
  environmentId: string,
  componentId: string | null,
): Promise<void> {
  if (componentId === null) return;
  const [component] = await store.findComponentOf(ctx.db, environmentId, componentId);
  if (!component) throw new NotFound(COMPONENT);
}
