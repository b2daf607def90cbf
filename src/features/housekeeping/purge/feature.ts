import type { Feature } from "../../../feature.ts";
import { sweepPurges } from "./purge.ts";
import { purges } from "./table.ts";

export const purgeFeature = {
  tables: [
    {
      table: purges,
      deletedWith: [],
      outlivesOrganization:
        "Each names a deleted resource whose data the purge still has to remove.",
    },
  ],
  sweep: sweepPurges,
} satisfies Feature;
