import type { SystemContext } from "../../../context.ts";
import { databaseSize, databaseStatus } from "../../../lib/database-size.ts";
import { listLargest } from "./store.ts";

const LARGEST = 5;
const MINUTE_MS = 60_000;
const MINUTES = 60;

/** Once an hour, because it reads the counters of all organizations. */
export async function warnOfSize(ctx: SystemContext): Promise<void> {
  const minute = Math.floor(ctx.clock.now() / MINUTE_MS) % MINUTES;
  if (minute !== 0 || databaseStatus() === "ok") return;
  const largest = await listLargest(ctx.db, LARGEST);
  ctx.log("error", "database.filling", {
    status: databaseStatus(),
    bytes: databaseSize(),
    largest: largest.map(({ organizationId, bytes }) => `${organizationId}: ${bytes}`).join(", "),
  });
}
