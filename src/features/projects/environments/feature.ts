import type { Feature } from "../../../feature.ts";
import {
  ENVIRONMENT_TOMBSTONE,
  environmentPositions,
  environments,
} from "../../tenancy/environment-table.ts";
import { environmentRoutes } from "./routes.ts";

export const environmentsFeature = {
  routes: { apiKey: [environmentRoutes] },
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
