import type { Feature } from "../../../feature.ts";
import {
  ENVIRONMENT_TOMBSTONE,
  environmentPositions,
  environments,
} from "../../tenancy/environment-table.ts";

export const environmentsFeature = {
  routes: [
    {
      paths: [
        "/v1/projects/:project_id/environments",
        "/v1/projects/:project_id/environment-order",
        "/v1/environments/:environment_id",
      ],
      load: async () => (await import("./routes.ts")).environmentRoutes,
    },
  ],
  tables: [
    {
      table: environments,
      deletedWith: [environments.projectId],
      tombstone: { resourceType: "environment", columns: ENVIRONMENT_TOMBSTONE },
    },
    {
      table: environmentPositions,
      deletedWith: [environmentPositions.environmentId],
      purged: true,
    },
  ],
} satisfies Feature;
