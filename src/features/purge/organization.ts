import type { SystemContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import type { OrganizationRoot } from "../../db/ownership.ts";
import { LIMITS } from "../../lib/limits.ts";
import { memberships } from "../memberships/table.ts";
import * as organizations from "./organization-store.ts";
import { type PurgeRun, ROWS } from "./run.ts";
import type { PurgeRow } from "./store.ts";
import * as store from "./store.ts";

/**
 * Deletes the rows of a deleted organization. A request that was in progress may still insert some, so
 * it ends when it finds none a while after the deletion.
 */
export async function purgeOrganization(
  ctx: SystemContext,
  run: PurgeRun,
  purge: PurgeRow,
): Promise<void> {
  const { db, clock, ownership } = ctx;
  const roots = ownership.rootsOfOrganization();
  const left = await organizations.findRootsWithRows(db, roots, purge.recordId);
  for (const root of left) {
    if (run.isOver()) return;
    await purgeRoot(ctx, run, root, purge.recordId);
  }
  const isSettled = clock.now() - purge.createdAt >= LIMITS.purgeSettlesMs.value;
  if (left.length > 0 || !isSettled) return;
  await runBatch(db, organizations.endPurge(db, roots, purge));
}

async function purgeRoot(
  { db }: SystemContext,
  run: PurgeRun,
  root: OrganizationRoot,
  organizationId: string,
): Promise<void> {
  for (const rows of root.owned) {
    const owners = organizations.selectIds(root, organizationId);
    do {
      if (run.isOver()) return;
    } while (await run.deletes(store.deleteOwned(db, rows, owners, ROWS)));
  }
  const isOfMembers = root.table === memberships;
  do {
    if (run.isOver()) return;
  } while (
    await run.deletes(
      isOfMembers
        ? await organizations.deleteMembers(db, root, organizationId, ROWS)
        : { rows: organizations.deleteRoots(db, root, organizationId, ROWS) },
    )
  );
}
