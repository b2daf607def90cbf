import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import { secretsContext } from "./result.ts";
import { sweepEntries } from "./sweep.ts";
import { idempotencyRecords, idempotencyTotals } from "./table.ts";

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
