import type { Feature } from "../../../feature.ts";
import { resourceRoutes } from "./routes.ts";
import { sweepResources } from "./sweep.ts";
import { resources } from "./table.ts";

export const resourcesFeature = {
  routes: { apiKey: [resourceRoutes] },
  tables: [
    {
      table: resources,
      deletedWith: [resources.stackId, resources.environmentId, resources.projectId],
      purged: true,
    },
  ],
  sweep: sweepResources,
} satisfies Feature;
