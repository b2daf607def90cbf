import type { Feature } from "../../../feature.ts";
import { projectConnections } from "./table.ts";

export const connectionsFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/connection", "/v1/projects/:project_id/disconnect"],
      load: async () => (await import("./routes.ts")).connectionRoutes,
    },
  ],
  tables: [{ table: projectConnections, deletedWith: [projectConnections.projectId] }],
} satisfies Feature;
