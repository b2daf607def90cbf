import type { SystemContext } from "../../../context.ts";
import { DAY_MS } from "../../../lib/clock.ts";
import { firstIdAt } from "../../../lib/ids.ts";
import { retentionMs } from "../../../lib/retention.ts";
import { listRolls } from "./history.ts";
import { listOrganizationPurges } from "./organization.ts";
import { listResourcePurges } from "./resources.ts";
import { logFailure, PurgeRun, ROWS, type Steps } from "./run.ts";
import * as store from "./store.ts";

/** Of organizations with data to delete, in one run. */
const ORGANIZATIONS = 100;

/**
 * Deletes the data of deleted resources, the data whose retention is over, and history beyond a share.
 * Stops at its limits: the next run starts again with the rows that are left, so that no progress is stored.
 */
export async function sweepPurges(ctx: SystemContext): Promise<void> {
  const run = new PurgeRun(ctx);
  // None can keep another from making progress.
  await run.runPart(await listOrganizationPurges(ctx, run, ORGANIZATIONS));
  await run.runPart(await listResourcePurges(ctx, run, ORGANIZATIONS));
  await run.runPart(listExpirations(ctx, run));
  await run.runPart(await listRolls(ctx, run, ORGANIZATIONS));
}

/** In turns over the settings. Of the same one, in the order of the manifests: deliveries before their events. */
function listExpirations(ctx: SystemContext, run: PurgeRun): Steps[] {
  const byPeriod = Map.groupBy(ctx.ownership.retained(), ({ retention }) => retention.period);
  return Array.from(byPeriod, ([period, tables]) =>
    logFailure(ctx, { part: period }, deleteExpired(ctx, run, tables)),
  );
}

type RetainedTables = ReturnType<SystemContext["ownership"]["retained"]>;

async function* deleteExpired(ctx: SystemContext, run: PurgeRun, tables: RetainedTables): Steps {
  const { db, clock } = ctx;
  for (const { table, retention, childKeys } of tables) {
    const cutoff = clock.now() - retentionMs(ctx.settings, retention.period);
    const isExpired = retention.isExpired?.(cutoff);
    const before = firstIdAt(cutoff);
    // What has just expired comes first: old rows that are kept must not hold it up.
    for (const start of [firstIdAt(cutoff - DAY_MS), ""]) {
      for (let after = start; ; ) {
        const until = await store.findRangeEnd(db, table, { after, before, count: ROWS });
        if (until === undefined) break;
        const expired = { table, childKeys, after, until, isExpired };
        if (!(await run.deletes(store.deleteExpired(db, expired, ROWS)))) after = until;
        // Counts also if it has deleted nothing: it has read the rows.
        yield;
      }
    }
  }
}
