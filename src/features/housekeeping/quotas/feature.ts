import type { Feature } from "../../../feature.ts";
import { quotas } from "./table.ts";

export const quotasFeature = {
  tables: [{ table: quotas, deletedWith: [] }],
} satisfies Feature;
