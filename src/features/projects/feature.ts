import type { Feature } from "../../feature.ts";
import { projectRoutes } from "./routes.ts";
import { PROJECT_TOMBSTONE, projects } from "./table.ts";

export const projectsFeature = {
  routes: { apiKey: [projectRoutes] },
  tables: [
    {
      table: projects,
      deletedWith: [],
      tombstone: { resourceType: "project", columns: PROJECT_TOMBSTONE },
    },
  ],
} satisfies Feature;
