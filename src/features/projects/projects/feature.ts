import type { Feature } from "../../../feature.ts";
import { PROJECT_TOMBSTONE, projects } from "../../tenancy/project-table.ts";
import { projectRoutes } from "./routes.ts";

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
