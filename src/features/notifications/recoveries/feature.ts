import type { Feature } from "../../../feature.ts";
import { sweepRecoveries } from "./service.ts";
import { isFinishedBefore, recoveries } from "./table.ts";

export const recoveriesFeature = {
  routes: [
    {
      paths: [
        "/v1/projects/:project_id/notification-integrations/:integration_id/recoveries",
        "/v1/projects/:project_id/notification-integrations/:integration_id/recoveries/:recovery_id",
      ],
      load: async () => (await import("./routes.ts")).recoveryRoutes,
    },
  ],
  tables: [
    {
      table: recoveries,
      deletedWith: [recoveries.integrationId, recoveries.projectId],
      retention: { period: "deliveries", isExpired: isFinishedBefore },
    },
  ],
  sweep: sweepRecoveries,
} satisfies Feature;
