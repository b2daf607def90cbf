import type { Feature } from "../../../feature.ts";
import { environmentProtections } from "./table.ts";

export const accessFeature = {
  tables: [
    {
      table: environmentProtections,
      deletedWith: [environmentProtections.environmentId, environmentProtections.projectId],
    },
  ],
} satisfies Feature;
