import type { SystemContext } from "../../../context.ts";
import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { secretsContext } from "./result.ts";
import { deleteCreatedUntil } from "./store.ts";
import { idempotencyRecords, idempotencyTotals } from "./table.ts";

const CHUNK = 500;

/** Removes the entries of requests that are too old to be repeated. */
async function sweepEntries({ db, clock }: SystemContext): Promise<void> {
  const time = clock.now() - LIMITS.idempotencyMs.value;
  for (let removed = 0; removed < LIMITS.sweepIdempotencyEntries.value; removed += CHUNK) {
    const deleted = await deleteCreatedUntil(db, time, CHUNK);
    if (deleted.length < CHUNK) return;
  }
}

const { id, organizationId, secrets } = idempotencyRecords;

export const idempotencyFeature = {
  tables: [
    { table: idempotencyRecords, deletedWith: [] },
    {
      table: idempotencyTotals,
      deletedWith: [],
      notInBackups: "Triggers add the entries up again when they are restored.",
    },
  ],
  sealedColumns: [sealedColumn(secrets, { id, organizationId }, secretsContext)],
  sweep: sweepEntries,
} satisfies Feature;
