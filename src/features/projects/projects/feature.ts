import type { Feature } from "../../../feature.ts";
import { PROJECT_TOMBSTONE, projects } from "../../tenancy/project-table.ts";

export const projectsFeature = {
  routes: [
    {
      paths: ["/v1/projects", "/v1/orgs/:org_id/projects", "/v1/projects/:project_id"],
      load: async () => (await import("./routes.ts")).projectRoutes,
    },
  ],
  tables: [
    {
      table: projects,
      deletedWith: [],
      tombstone: { resourceType: "project", columns: PROJECT_TOMBSTONE },
    },
  ],
} satisfies Feature;
