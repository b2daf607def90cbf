import type { Feature } from "../../../feature.ts";
import { recoveryRoutes } from "./routes.ts";
import { sweepRecoveries } from "./service.ts";
import { isFinishedBefore, recoveries } from "./table.ts";

export const recoveriesFeature = {
  tags: [
    {
      name: "Recoveries",
      description: "New deliveries, in the background, of what failed in a period.",
    },
  ],
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
