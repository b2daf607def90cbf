import type { Feature } from "../../feature.ts";
import { auditRecords } from "./table.ts";

export const auditFeature = {
  tables: [
    {
      table: auditRecords,
      deletedWith: [],
      outlivesProject:
        "It records who read a project's secrets, also after the project is deleted.",
    },
  ],
} satisfies Feature;
