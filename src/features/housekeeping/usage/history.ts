import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import * as store from "./history-store.ts";

/** Of one table in one run: as many rows as organizations add at most. */
const BATCHES = 10;

/** Counts the rows of history that were added since the last run. */
export async function sweepHistory({ db, ownership }: SystemContext): Promise<void> {
  for (const { table, history } of ownership.history()) {
    for (let batches = 0; batches < BATCHES; batches += 1) {
      const { position } = await batch(db, store.countAdded(db, table, history));
      if (position.meta.changes === 0) break;
    }
  }
}
