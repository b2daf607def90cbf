import type { Feature } from "../../feature.ts";
import { connectionRoutes } from "./connections/routes.ts";
import { projectRoutes } from "./routes.ts";
import { PROJECT_TOMBSTONE, projectConnections, projects } from "./table.ts";

export const projectsFeature = {
  routes: { apiKey: [projectRoutes, connectionRoutes] },
  tables: [
    {
      table: projects,
      deletedWith: [],
      tombstone: { resourceType: "project", columns: PROJECT_TOMBSTONE },
    },
    {
      table: projectConnections,
      deletedWith: [projectConnections.projectId],
    },
  ],
} satisfies Feature;
