import { toRevokedKey } from "../../auth/credentials.ts";
import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { recordActs } from "../audit/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { RunnerPoolInput } from "./model.ts";
import type { PoolRow } from "./store.ts";
import * as store from "./store.ts";

const refuseTakenName = conflictIfTaken(
  ["runner_pools.organization_id", "runner_pools.name"],
  "The organization already has a runner pool with this name. Choose another name.",
);

export async function listPools(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
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
    recorded: recordActs(ctx, organizationId, [{ action: "runner_pool.created", target, changes }]),
    created: store.findPool(ctx.db, organizationId, pool.id),
  };
  const results = await refuseTakenName(limits.enforce(runBatch(ctx.db, statements)));
  const [created] = results.created;
  if (!created) throw new NotFound("environment in the organization");
  return created;
}

export async function deletePool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const { name } = await getPool(ctx, organizationId, id);
  const target = { type: "runner_pool", id, name } as const;
  const { tokens, deleted } = await runBatch(ctx.db, {
    ...store.deletePool(ctx, organizationId, id),
    recorded: recordActs(ctx, organizationId, [{ action: "runner_pool.deleted", target }]),
  });
  if (deleted.length === 0) {
    await getPool(ctx, organizationId, id);
    throw new Conflict("A runner of the pool carries out a deployment. Cancel it first.");
  }
  await ctx.invalidateKeys(tokens.map((token) => toRevokedKey(token, ctx.clock)));
}
