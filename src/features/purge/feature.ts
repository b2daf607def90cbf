import type { Feature } from "../../feature.ts";
import { sweepPurges } from "./purge.ts";
import { purges } from "./table.ts";

export const purgeFeature = {
  tables: [{ table: purges, deletedWith: [] }],
  sweep: sweepPurges,
} satisfies Feature;
