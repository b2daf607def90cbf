import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { OrganizationRoot } from "../../../db/ownership.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { memberships } from "../../tenancy/member-table.ts";
import { deleteSome } from "./logged-rows.ts";
import * as organizations from "./organization-store.ts";
import { type PurgeRun, ROWS } from "./run.ts";
import type { PurgeRow } from "./store.ts";

/** Those with rows to delete now. */
export function listOrganizations(ctx: SystemContext, limit: number): Promise<PurgeRow[]> {
  const { db, clock } = ctx;
  const settledAt = clock.now() - LIMITS.purgeSettlesMs.value;
  return organizations.listPurges(db, rootsOf(ctx, false), { settledAt, limit });
}

/**
 * Deletes the rows of a deleted organization. A request that was in progress may still insert some, so
 * it ends when it finds none a while after the deletion.
 */
export async function purgeOrganization(
  ctx: SystemContext,
  run: PurgeRun,
  purge: PurgeRow,
): Promise<void> {
  const { db, clock } = ctx;
  const isSettled = clock.now() - purge.createdAt >= LIMITS.purgeSettlesMs.value;
  const roots = rootsOf(ctx, isSettled);
  const left = await organizations.findRootsWithRows(db, roots, purge.resourceId);
  for (const root of left) {
    if (run.isPartOver()) return;
    await purgeRoot(ctx, run, root, purge.resourceId);
  }
  if (left.length > 0 || !isSettled) return;
  await batch(db, organizations.endPurge(db, roots, purge));
}

/** Memberships stay for that while: they count toward the organizations that an account owns. */
function rootsOf({ ownership }: SystemContext, isSettled: boolean): OrganizationRoot[] {
  const roots = ownership.rootsOfOrganization();
  return isSettled ? roots : roots.filter(({ table }) => table !== memberships);
}

async function purgeRoot(
  ctx: SystemContext,
  run: PurgeRun,
  root: OrganizationRoot,
  organizationId: string,
): Promise<void> {
  const { db } = ctx;
  for (const rows of await organizations.findOwnedWithRows(db, root, organizationId)) {
    const owners = organizations.selectIds(root, organizationId);
    do {
      if (run.isPartOver()) return;
    } while (await deleteSome(ctx, run, rows, owners));
  }
  const isOfMembers = root.table === memberships;
  do {
    if (run.isPartOver()) return;
  } while (
    await run.deletes(
      isOfMembers
        ? await organizations.deleteMembers(db, root, organizationId, ROWS)
        : { rows: organizations.deleteRoots(db, root, organizationId, ROWS) },
    )
  );
}
