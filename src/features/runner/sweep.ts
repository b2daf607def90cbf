import { openForWriting } from "../../db/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { settle, sweep } from "../deployments/index.ts";

/** What the schedule does each minute, in every environment: ends what nobody ends. */
export async function sweepEverything(d1: D1Database, clock: Clock): Promise<void> {
  const { db } = openForWriting(d1);
  const now = clock.now();
  await db.batch([...sweep(db, "everything", now), ...settle(db, "everything", now)]);
}
