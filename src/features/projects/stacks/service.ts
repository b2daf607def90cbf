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
import { findEnvironment, namesThatNeed, requireEnvironment } from "../environments/index.ts";
import {
  COMPONENT,
  ENVIRONMENT_CHANGED,
  NAME_TAKEN,
  NO_OUTPUTS,
  neededBy,
  STACK_IN_USE,
} from "./model.ts";
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
async function requireExpected(ctx: ServiceContext, id: string): Promise<LoadedStack> {
  const { db, actor } = ctx;
  const loaded = await batch(db, {
    found: store.findStack(db, actor, id),
    environments: store.findConfigurationOf(db, actor.organizationId, id),
    siblings: store.listSiblings(db, actor.organizationId, id),
  });
  const stack = authorize(actor, "stack", loaded.found[0], "contributor");
  const [environment] = loaded.environments;
  if (!environment) throw new NotFound("stack");
  await requireAccess(ctx, stack, "deploy");
  await requireExpectedVersion(ctx, stack.version, () => presentStack(stack));
  return { stack, environment, names: new Set(loaded.siblings.map(({ name }) => name)) };
}

interface LoadedStack {
  stack: StackRow;
  environment: { configuration: string; version: number };
  /** The names of all stacks of the environment. */
  names: ReadonlySet<string>;
}

/** Throws `Conflict` that names the stacks that need this one in the environment's configuration. */
function requireUnneeded({ stack, environment, names }: LoadedStack): void {
  const configuration = JSON.parse(environment.configuration);
  const needing = namesThatNeed(stack.name, configuration, names);
  if (needing.length > 0) throw neededBy(needing);
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
    position: null,
    succeededAt: null,
    showsUrl: false,
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
  const loaded = await requireExpected(ctx, id);
  const { stack: before, environment } = loaded;
  const { organizationId, environmentId } = before;
  await requireComponentOf(ctx, environmentId, change.componentId ?? null);
  const isRenamed = change.name !== undefined && change.name !== before.name;
  if (isRenamed) requireUnneeded(loaded);
  const version = isRenamed ? environment.version : undefined;
  return write(ctx, {
    guarded: store.changeStack(ctx, before, change, version),
    returns: store.selectStack(ctx.db, organizationId, id),
    changes: [changes.updated(before, mergePatch(before, change))],
    unchanged: before,
    taken,
    reread: async () => {
      const now = await requireExpected(ctx, id);
      if (isRenamed) requireUnneeded(now);
    },
    otherwise: () => ENVIRONMENT_CHANGED,
  });
}

export async function deleteStack(ctx: ServiceContext, id: string): Promise<void> {
  const loaded = await requireExpected(ctx, id);
  requireUnneeded(loaded);
  const { stack: before, environment } = loaded;
  const { deleted, ...first } = store.deleteStack(ctx, before, environment.version);
  await write(ctx, {
    first,
    guarded: deleted,
    changes: [changes.deleted(before)],
    reread: async () => {
      const now = await requireExpected(ctx, id);
      requireUnneeded(now);
      if (now.environment.version !== environment.version) throw ENVIRONMENT_CHANGED;
    },
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
