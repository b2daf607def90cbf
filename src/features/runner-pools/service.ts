import { toRevokedKey } from "../../auth/credentials.ts";
import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { issueRunnerToken } from "./credentials.ts";
import type { RunnerPoolInput } from "./model.ts";
import type { CreatedToken, PoolRow } from "./store.ts";
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
  return toPage(page, await store.listPools(ctx.db, organizationId, page), (row) => row);
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
  const times = { createdAt: now, updatedAt: now };
  const pool = { id: newId(ctx.clock), organizationId, name, maxRunSeconds, ...times };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { runner_pools: 1 },
    bytes: bytesOf(name),
  });
  const statements = {
    limits: limits.statement,
    ...store.insertPool(ctx.db, pool, [...new Set(input.environmentIds)]),
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
  await getPool(ctx, organizationId, id);
  const { tokens, deleted } = await runBatch(ctx.db, store.deletePool(ctx, organizationId, id));
  if (deleted.length === 0) {
    await getPool(ctx, organizationId, id);
    throw new Conflict("A runner of the pool carries out a deployment. Cancel it first.");
  }
  await ctx.invalidateKeys(tokens.map((token) => toRevokedKey(token, ctx.clock)));
}

export async function createToken(
  ctx: ServiceContext,
  organizationId: string,
  poolId: string,
  { name }: { name: string },
): Promise<CreatedToken> {
  await getPool(ctx, organizationId, poolId);
  const { key: token, ...issued } = await issueRunnerToken(newId(ctx.clock));
  const createdAt = ctx.clock.now();
  const values = { ...issued, organizationId, poolId, name, createdAt };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { runner_tokens: 1 },
    bytes: bytesOf(name),
    bounds: [store.tokenCountBound(poolId)],
  });
  const statements = { limits: limits.statement, created: store.insertToken(ctx.db, values) };
  const { created } = await limits.enforce(runBatch(ctx.db, statements));
  const [row] = created;
  if (!row) throw new Error("The batch returned no runner token");
  return { row, token };
}

export async function revokeToken(
  ctx: ServiceContext,
  organizationId: string,
  poolId: string,
  id: string,
): Promise<void> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [deleted] = await store.deleteToken(ctx.db, organizationId, poolId, id);
  if (!deleted) throw new NotFound("runner token");
  await ctx.invalidateKeys([toRevokedKey(deleted, ctx.clock)]);
}
