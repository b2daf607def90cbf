import type { Feature } from "../../feature.ts";
import { auditRecords } from "./table.ts";

export const auditFeature = {
  tables: [
    {
      table: auditRecords,
      deletedWith: [],
      outlivesProject: "It says who used a project's secrets, also after the project is gone.",
    },
  ],
} satisfies Feature;
