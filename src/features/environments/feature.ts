import type { Feature } from "../../feature.ts";
import { environmentRoutes } from "./routes.ts";
import { environments } from "./table.ts";

export const environmentsFeature = {
  tags: [
    {
      name: "Environments",
      description: "The environments that a project runs in, and their configuration.",
    },
  ],
  routes: { apiKey: [environmentRoutes] },
  tables: [
    {
      table: environments,
      deletedWith: [environments.projectId],
    },
  ],
} satisfies Feature;
