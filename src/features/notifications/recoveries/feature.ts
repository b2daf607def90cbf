import type { Feature } from "../../../feature.ts";
import { recoveryRoutes } from "./routes.ts";
import { sweepRecoveries } from "./service.ts";
import { isFinishedBefore, recoveries } from "./table.ts";

export const recoveriesFeature = {
  routes: { apiKey: [recoveryRoutes] },
  tables: [
    {
      table: recoveries,
      deletedWith: [recoveries.integrationId, recoveries.projectId],
      retention: { period: "deliveries", isExpired: isFinishedBefore },
    },
  ],
  sweep: sweepRecoveries,
} satisfies Feature;
