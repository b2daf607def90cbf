import type { ServiceContext } from "../../context.ts";
import { authorize, requireExpectedVersion } from "../../context.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mergePatch } from "../../lib/merge-patch.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { findEnvironment, requireEnvironment } from "../environments/index.ts";
import { recordResult, recordRow } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { presentStack } from "./presenters.ts";
import type { StackRow } from "./store.ts";
import * as store from "./store.ts";

export type StackInput = Pick<StackRow, "name" | "componentId">;

const changes = changeRecorder("stack", (row: StackRow) => row.projectId, presentStack);

const refuseTakenName = conflictIfTaken(
  ["stacks.environment_id", "stacks.name"],
  "The environment already has a stack with this name. Choose another name.",
);

export async function requireStack(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<StackRow> {
  const [stack] = await store.findStack(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "stack", stack, needed);
}

export async function listStacks(
  ctx: ServiceContext,
  environmentId: string,
  page: NamedPageRequest,
): Promise<Page<StackRow>> {
  const [[environment], rows] = await ctx.db.batch([
    findEnvironment(ctx.db, ctx.actor, environmentId),
    store.listStacks(ctx.db, ctx.actor.organizationId, environmentId, page),
  ]);
  authorize(ctx.actor, "environment", environment, "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createStack(
  ctx: ServiceContext,
  environmentId: string,
  input: StackInput,
): Promise<StackRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  await requireComponentOf(ctx, environmentId, input.componentId);
  const { organizationId, projectId } = environment;
  const now = ctx.clock.now();
  const scope = { organizationId, projectId, environmentId };
  const times = { createdAt: now, updatedAt: now };
  const stack = { id: newId(ctx.clock), ...scope, ...input, ...times, recordVersion: 1 };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { stacks: 1 },
    bytes: bytesOf(stack.name),
    bounds: [store.stackCountBound(organizationId, environmentId)],
  });
  const statements = {
    limits: limits.statement,
    created: store.insertStack(ctx.db, stack),
    recorded: recordResult(ctx, stack),
  };
  await limits.enforce(refuseTakenName(commitChange(ctx, statements, changes.created(stack))));
  return stack;
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
  const before = await requireStack(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentStack(before));
  const { organizationId, environmentId } = before;
  await requireComponentOf(ctx, environmentId, change.componentId ?? null);
  const statements = {
    changed: store.changeStack(ctx, organizationId, id, change),
    recorded: recordRow(ctx, store.selectStack(ctx.db, organizationId, id)),
  };
  const results = await refuseTakenName(
    commitChange(ctx, statements, changes.updated(before, mergePatch(before, change))),
  );
  if (!results) return before;
  const [stack] = results.changed;
  if (stack) return stack;
  const now = await requireStack(ctx, id, "contributor");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentStack(now));
  throw new NotFound("stack");
}

export async function deleteStack(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireStack(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.recordVersion, () => presentStack(before));
  const statements = store.deleteStack(ctx, before.organizationId, id);
  const { deleted } = await commitChange(ctx, statements, changes.deleted(before));
  if (deleted.length > 0) return;
  const now = await requireStack(ctx, id, "contributor");
  await requireExpectedVersion(ctx, now.recordVersion, () => presentStack(now));
  throw new Conflict("An unfinished deployment includes the stack. Cancel it first.");
}

/** A component never changes its environment, so the check stays valid until the write. */
async function requireComponentOf(
  ctx: ServiceContext,
  environmentId: string,
  componentId: string | null,
): Promise<void> {
  if (componentId === null) return;
  const [component] = await store.findComponentOf(ctx.db, environmentId, componentId);
  if (!component) throw new NotFound("component in the environment");
}
