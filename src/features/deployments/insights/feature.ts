import type { Feature } from "../../../feature.ts";
import { isExpired } from "./store.ts";
import { deploymentDays } from "./table.ts";

export const insightsFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/insights"],
      load: async () => (await import("./routes.ts")).insightRoutes,
    },
  ],
  tables: [
    {
      table: deploymentDays,
      deletedWith: [deploymentDays.environmentId, deploymentDays.projectId],
      purged: true,
      retention: { period: "changelog", isExpired },
    },
  ],
} satisfies Feature;
