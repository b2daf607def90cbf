import type { Feature } from "../../feature.ts";
import { environmentRoutes } from "./routes.ts";
import { environments } from "./table.ts";

export const environmentsFeature = {
  tags: [
    { name: "Environments", description: "Where a project runs, and with which configuration." },
  ],
  routes: { apiKey: [environmentRoutes] },
  tables: [
    {
      table: environments,
      deletedWith: [environments.projectId],
    },
  ],
} satisfies Feature;
