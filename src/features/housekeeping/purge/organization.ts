import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { OrganizationRoot } from "../../../db/ownership.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { memberships } from "../../tenancy/member-table.ts";
import * as organizations from "./organization-store.ts";
import { purgeOwned } from "./owned-rows.ts";
import { logFailure, type PurgeRun, ROWS, type Steps } from "./run.ts";
import type { PurgeRow } from "./store.ts";

/** Of those with rows to delete now. */
export async function listOrganizationPurges(
  ctx: SystemContext,
  run: PurgeRun,
  limit: number,
): Promise<Steps[]> {
  const { db, clock } = ctx;
  const settledAt = clock.now() - LIMITS.purgeSettlesMs.value;
  const purges = await organizations.listPurges(db, rootsOf(ctx, false), { settledAt, limit });
  return purges.map((purge) => {
    return logFailure(ctx, { purge: purge.id }, purgeOrganization(ctx, run, purge));
  });
}

/**
 * Deletes the rows of a deleted organization. A request that was in progress may still insert some, so
 * it ends when it finds none a while after the deletion.
 */
async function* purgeOrganization(ctx: SystemContext, run: PurgeRun, purge: PurgeRow): Steps {
  const { db, clock } = ctx;
  const isSettled = clock.now() - purge.createdAt >= LIMITS.purgeSettlesMs.value;
  const roots = rootsOf(ctx, isSettled);
  const left = await organizations.findRootsWithRows(db, roots, purge.resourceId);
  for (const root of left) yield* purgeRoot(ctx, run, root, purge.resourceId);
  if (left.length > 0 || !isSettled) return;
  await batch(db, organizations.endPurge(db, roots, purge));
}

/**
 * Memberships stay for that while, because they count toward the organizations that an account owns. What they alone
 * own goes before: credentials, which may be many.
 */
function rootsOf({ ownership }: SystemContext, isSettled: boolean): OrganizationRoot[] {
  const roots = ownership.rootsOfOrganization();
  if (isSettled) return roots;
  const others = roots.filter(({ table }) => table !== memberships);
  return [...others, ...ownership.ownedOnlyBy(memberships)];
}

async function* purgeRoot(
  ctx: SystemContext,
  run: PurgeRun,
  root: OrganizationRoot,
  organizationId: string,
): Steps {
  const { db } = ctx;
  if (root.owned.length > 0) {
    yield* purgeOwned(ctx, run, root.owned, organizations.selectIds(root, organizationId));
  }
  const isOfMembers = root.table === memberships;
  const deleteRoots = async () =>
    isOfMembers
      ? await organizations.deleteMembers(db, root, organizationId, ROWS)
      : { rows: organizations.deleteRoots(db, root, organizationId, ROWS) };
  while (await run.deletes(await deleteRoots())) yield;
}
