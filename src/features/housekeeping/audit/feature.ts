import type { Feature } from "../../../feature.ts";
import { auditDays, auditLog } from "./table.ts";

export const auditFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/audit-log", "/v1/orgs/:org_id/audit-log/export"],
      load: async () => (await import("./routes.ts")).auditRoutes,
    },
  ],
  tables: [
    {
      table: auditLog,
      deletedWith: [],
      retention: { period: "audit" },
      history: { kind: "audit_log" },
      outlivesProject: "It records who did what to a project, also after the project is deleted.",
    },
    {
      table: auditDays,
      deletedWith: [],
      notInBackups: "It has the number of entries of one day.",
    },
  ],
} satisfies Feature;
