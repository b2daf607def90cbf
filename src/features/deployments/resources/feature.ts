import type { Feature } from "../../../feature.ts";
import { sweepResources } from "./sweep.ts";
import { resources } from "./table.ts";

export const resourcesFeature = {
  routes: [
    {
      paths: [
        "/v1/resources/:resource_id",
        "/v1/stacks/:stack_id/resources/:resource_id",
        "/v1/environments/:environment_id/resources/:resource_id",
        "/v1/stacks/:stack_id/resources",
        "/v1/environments/:environment_id/resources",
      ],
      load: async () => (await import("./routes.ts")).resourceRoutes,
    },
  ],
  tables: [
    {
      table: resources,
      deletedWith: [resources.stackId, resources.environmentId, resources.projectId],
      purged: true,
    },
  ],
  sweep: sweepResources,
} satisfies Feature;
