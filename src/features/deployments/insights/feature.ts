import type { Feature } from "../../../feature.ts";
import { insightRoutes } from "./routes.ts";
import { isExpired } from "./store.ts";
import { deploymentDays } from "./table.ts";

export const insightsFeature = {
  routes: { apiKey: [insightRoutes] },
  tables: [
    {
      table: deploymentDays,
      deletedWith: [deploymentDays.environmentId, deploymentDays.projectId],
      purged: true,
      retention: { period: "changelog", isExpired },
    },
  ],
} satisfies Feature;
