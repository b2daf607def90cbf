import { toRevokedKey } from "../../auth/credentials.ts";
import { requireExpectedVersion, requireOrgRole, type ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { refuseTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { recordActs } from "../audit/index.ts";
import { recordRow } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { RunnerPoolChange, RunnerPoolInput } from "./model.ts";
import { presentPool, presentPoolFields } from "./presenters.ts";
import type { PoolRow } from "./store.ts";
import * as store from "./store.ts";

const TAKEN = {
  "runner_pools.organization_id, runner_pools.name": new Conflict(
    "The organization already has a runner pool with this name. Choose another name.",
  ),
};

export async function listPools(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<PoolRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await store.listPools(ctx.db, organizationId, page);
  return toPage(page, rows, (row) => row);
}

export async function getPool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<PoolRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await store.findPool(ctx.db, organizationId, id);
  if (!row) throw new NotFound("runner pool");
  return row;
}

export async function createPool(
  ctx: ServiceContext,
  organizationId: string,
  input: RunnerPoolInput,
): Promise<PoolRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const now = ctx.clock.now();
  const { name, maxRunSeconds } = input;
  const environmentIds = [...new Set(input.environmentIds)];
  const times = { createdAt: now, updatedAt: now };
  const fields = { organizationId, name, maxRunSeconds, ...times, recordVersion: 1 };
  const pool = { id: newId(ctx.clock), ...fields };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { runner_pools: 1 },
    bytes: bytesOf(name),
  });
  const target = { type: "runner_pool", id: pool.id, name } as const;
  const changes = { after: { environment_ids: environmentIds, max_run_seconds: maxRunSeconds } };
  const statements = {
    limits: limits.statement,
    ...store.insertPool(ctx.db, pool, environmentIds),
    recorded: recordRow(ctx, store.findPool(ctx.db, organizationId, pool.id)),
    audit: recordActs(ctx, organizationId, [{ action: "runner_pool.created", target, changes }]),
    created: store.findPool(ctx.db, organizationId, pool.id),
  };
  const results = await refuseTaken(limits.enforce(batch(ctx.db, statements)), TAKEN);
  const [created] = results.created;
  if (!created) throw new NotFound("environment in the organization");
  return created;
}

export async function updatePool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  sent: RunnerPoolChange,
): Promise<PoolRow> {
  const before = await getPool(ctx, organizationId, id);
  await requireExpectedPool(ctx, before);
  const change = differingFields(before, sent);
  if (Object.values(change).every((value) => value === undefined)) return before;
  const { name = before.name } = change;
  const limits = limitGrowth(ctx, { organizationId, bytes: bytesOf(name) - bytesOf(before.name) });
  const target = { type: "runner_pool", id, name } as const;
  const changes = describeChange(before, change);
  const statements = {
    limits: limits.statement,
    ...store.updatePool(ctx, before, change),
    recorded: recordRow(ctx, store.findPool(ctx.db, organizationId, id)),
    audit: recordActs(ctx, organizationId, [{ action: "runner_pool.updated", target, changes }]),
    after: store.findPool(ctx.db, organizationId, id),
  };
  const results = await refuseTaken(limits.enforce(batch(ctx.db, statements)), TAKEN);
  const [after] = results.after;
  if (after && results.changed.length > 0) return after;
  await requireExpectedPool(ctx, await getPool(ctx, organizationId, id));
  throw new NotFound("environment in the organization");
}

export async function deletePool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const before = await getPool(ctx, organizationId, id);
  await requireExpectedPool(ctx, before);
  const { name } = before;
  const target = { type: "runner_pool", id, name } as const;
  const { tokens, deleted } = await batch(ctx.db, {
    ...store.deletePool(ctx, organizationId, id),
    audit: recordActs(ctx, organizationId, [{ action: "runner_pool.deleted", target }]),
  });
  if (deleted.length === 0) {
    await requireExpectedPool(ctx, await getPool(ctx, organizationId, id));
    throw new Conflict("A runner of the pool carries out a deployment. Cancel it first.");
  }
  await ctx.invalidateKeys(tokens.map((token) => toRevokedKey(token, ctx.clock)));
}

async function requireExpectedPool(ctx: ServiceContext, pool: PoolRow): Promise<void> {
  await requireExpectedVersion(ctx, pool.recordVersion, () => presentPool(pool));
}

/** The sent fields whose values are not those of the pool. */
function differingFields(before: PoolRow, sent: RunnerPoolChange): RunnerPoolChange {
  const { name, maxRunSeconds } = sent;
  const ids = sent.environmentIds && [...new Set(sent.environmentIds)].toSorted();
  return {
    name: name === before.name ? undefined : name,
    maxRunSeconds: maxRunSeconds === before.maxRunSeconds ? undefined : maxRunSeconds,
    environmentIds: JSON.stringify(ids) === before.environmentIds ? undefined : ids,
  };
}

/** The changed fields, before and after. */
function describeChange(before: PoolRow, change: RunnerPoolChange) {
  const { name, environmentIds, maxRunSeconds } = change;
  const after = { name, environment_ids: environmentIds, max_run_seconds: maxRunSeconds };
  const changed = Object.entries(presentPoolFields(before)).filter(
    ([field]) => after[field as keyof typeof after] !== undefined,
  );
  return { before: Object.fromEntries(changed), after };
}
