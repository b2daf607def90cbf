import type { SystemContext } from "../../../context.ts";
import { purgeOwned } from "./owned-rows.ts";
import { logFailure, type PurgeRun, type Steps } from "./run.ts";
import * as store from "./store.ts";

/** Of one organization, whose rows are deleted together: most deleted resources own few. */
const MARKS = 100;

/** Of each organization with deleted resources, in a random order: a run may end before the last. */
export async function listResourcePurges(
  ctx: SystemContext,
  run: PurgeRun,
  limit: number,
): Promise<Steps[]> {
  const ids = await store.listOrganizations(ctx.db, limit);
  return ids.map((organizationId) =>
    logFailure(ctx, { organizationId }, purgeResources(ctx, run, organizationId)),
  );
}

/** Oldest first. */
async function* purgeResources(ctx: SystemContext, run: PurgeRun, organizationId: string): Steps {
  for (let after = ""; ; ) {
    const purges = await store.listResources(ctx.db, { organizationId, after, limit: MARKS });
    for (const [type, some] of Map.groupBy(purges, ({ resourceType }) => resourceType)) {
      yield* logFailure(ctx, { organizationId, type }, purgeType(ctx, run, type, some));
    }
    const last = purges.at(-1);
    if (!last) return;
    after = last.id;
  }
}

async function* purgeType(
  ctx: SystemContext,
  run: PurgeRun,
  type: string,
  purges: readonly store.PurgeRow[],
): Steps {
  const { db, ownership } = ctx;
  const table = ownership.tombstonesOf(type);
  if (!table) throw new Error(`Nothing leaves tombstones of the type ${type}`);
  const root = { table, owned: ownership.rowsOwnedBy(table) };
  yield* purgeOwned(ctx, run, root.owned, store.selectResources(purges));
  if (await run.deletes(store.deleteTombstones(db, root, purges))) yield;
}
