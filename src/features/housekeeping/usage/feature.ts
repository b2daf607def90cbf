import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { Feature } from "../../../feature.ts";
import { databaseSize, databaseStatus } from "../../../lib/database-size.ts";
import * as store from "./history-store.ts";
import { listLargest } from "./store.ts";
import { historyPositions, historyUsage, limitChecks, usage } from "./table.ts";

const LARGEST = 5;
const MINUTE_MS = 60_000;
const MINUTES = 60;

/** Once an hour, because it reads the counters of all organizations. */
async function warnOfSize(ctx: SystemContext): Promise<void> {
  const minute = Math.floor(ctx.clock.now() / MINUTE_MS) % MINUTES;
  if (minute !== 0 || databaseStatus() === "ok") return;
  const largest = await listLargest(ctx.db, LARGEST);
  ctx.log("error", "database.filling", {
    status: databaseStatus(),
    bytes: databaseSize(),
    largest: largest.map(({ organizationId, bytes }) => `${organizationId}: ${bytes}`).join(", "),
  });
}

/** Of one table in one run: as many rows as organizations add at most. */
const BATCHES = 10;

/** Counts the rows of history that were added since the last run. */
async function sweepHistory({ db, ownership }: SystemContext): Promise<void> {
  for (const { table, history } of ownership.history()) {
    for (let batches = 0; batches < BATCHES; batches += 1) {
      const { position } = await batch(db, store.countAdded(db, table, history));
      if (position.meta.changes === 0) break;
    }
  }
}

export const usageFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/usage"],
      load: async () => (await import("./routes.ts")).usageRoutes,
    },
  ],
  tables: [
    {
      table: usage,
      deletedWith: [],
      notInBackups: "Triggers count the rows again when they are restored.",
    },
    {
      table: historyUsage,
      deletedWith: [],
      notInBackups: "The schedule counts the rows again when they are restored.",
    },
    {
      table: historyPositions,
      deletedWith: [],
      notInBackups: "It belongs to the rowids of a database.",
    },
    {
      table: limitChecks,
      deletedWith: [],
      notInBackups: "It is always empty.",
    },
  ],
  async sweep(ctx) {
    await sweepHistory(ctx);
    await warnOfSize(ctx);
  },
} satisfies Feature;
