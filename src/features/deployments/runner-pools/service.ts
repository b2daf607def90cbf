import { requireOrgRole } from "../../../actor.ts";
import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { requireFullWhereProtected, requirePoolAuthority } from "../../housekeeping/audit/index.ts";
import { findPool, getPool, type PoolRow } from "../../tenancy/index.ts";
import type { RunnerPoolChange, RunnerPoolInput } from "./model.ts";
import { ENVIRONMENT, NAME_TAKEN, POOL_IN_USE } from "./model.ts";
import { presentPool, presentPoolFields } from "./presenters.ts";
import * as store from "./store.ts";

const TAKEN = { "runner_pools.organization_id, runner_pools.name": NAME_TAKEN };

export async function listPools(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<PoolRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await store.listPools(ctx.db, organizationId, page);
  return toPage(page, rows, (row) => row);
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
  const fields = { organizationId, name, maxRunSeconds, ...times, version: 1 };
  const pool = { id: newId(ctx.clock), ...fields };
  const target = { type: "runner_pool", id: pool.id, name } as const;
  await requireFullWhereProtected(ctx, target, { projectIds: null, environmentIds });
  const after = { environment_ids: environmentIds, max_run_seconds: maxRunSeconds };
  const { inserted, ...also } = store.insertPool(ctx.db, pool, environmentIds);
  return write(ctx, {
    growth: { organizationId, records: { runner_pools: 1 }, bytes: bytesOf(name) },
    guarded: inserted,
    also,
    reads: findPool(ctx.db, organizationId, pool.id),
    acts: [{ action: "runner_pool.created", target, changes: { after } }],
    taken: TAKEN,
    otherwise: () => new NotFound(ENVIRONMENT),
  });
}

export async function updatePool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  sent: RunnerPoolChange,
): Promise<PoolRow> {
  const before = await requireExpected(ctx, organizationId, id, sent.environmentIds);
  const change = differingFields(before, sent);
  if (Object.values(change).every((value) => value === undefined)) return before;
  const { name = before.name } = change;
  const target = { type: "runner_pool", id, name } as const;
  const { changed, ...first } = store.updatePool(ctx, before, change);
  return write(ctx, {
    growth: { organizationId, bytes: bytesOf(name) - bytesOf(before.name) },
    first,
    guarded: changed,
    reads: findPool(ctx.db, organizationId, id),
    acts: [{ action: "runner_pool.updated", target, changes: describeChange(before, change) }],
    taken: TAKEN,
    reread: () => requireExpected(ctx, organizationId, id, sent.environmentIds),
    otherwise: () => new NotFound(ENVIRONMENT),
  });
}

/** With what belongs to it, in several batches if that is much, because all others wait for each. */
export async function deletePool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const { name } = await requireExpected(ctx, organizationId, id);
  const target = { type: "runner_pool", id, name } as const;
  for (;;) {
    const { deleted, ...first } = store.deletePool(ctx, organizationId, id);
    const results = await writeBatch(ctx, {
      first,
      guarded: deleted,
      acts: [{ action: "runner_pool.deleted", target }],
    });
    const { tokens, attempts } = results.first;
    await ctx.invalidateKeys(tokens.map((token) => toRevokedKey(token, ctx.clock)));
    if (results.guarded.length > 0) return;
    if (tokens.length + attempts.length > 0) continue;
    await requireExpected(ctx, organizationId, id);
    throw POOL_IN_USE;
  }
}

/**
 * For a write. Throws `EtagMismatch` unless it has the version that the request expects.
 * @param added The environments that it gets.
 */
async function requireExpected(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  added: readonly string[] = [],
): Promise<PoolRow> {
  const pool = await getPool(ctx, organizationId, id);
  await requirePoolAuthority(ctx, pool, added);
  await requireExpectedVersion(ctx, pool.version, () => presentPool(pool));
  return pool;
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
