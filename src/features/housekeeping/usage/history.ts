import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import * as store from "./history-store.ts";

/** Counts the rows of history that were added since the last run. */
export async function sweepHistory({ db, ownership }: SystemContext): Promise<void> {
  for (const { table, history } of ownership.history()) {
    await batch(db, store.countAdded(db, table, history));
  }
}
