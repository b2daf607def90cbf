import type { Feature } from "../../feature.ts";
import { auditLog, auditRecords } from "./table.ts";

export const auditFeature = {
  tables: [
    {
      table: auditLog,
      deletedWith: [],
      outlivesProject: "It records who did what to a project, also after the project is deleted.",
    },
    {
      table: auditRecords,
      deletedWith: [],
      outlivesProject: "Its rows are in audit_log, too.",
      notInBackups: "Its rows are in audit_log, too.",
    },
  ],
} satisfies Feature;
