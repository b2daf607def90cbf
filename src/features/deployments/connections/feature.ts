import type { Feature } from "../../../feature.ts";
import { connectionRoutes } from "./routes.ts";
import { projectConnections } from "./table.ts";

export const connectionsFeature = {
  routes: { apiKey: [connectionRoutes] },
  tables: [{ table: projectConnections, deletedWith: [projectConnections.projectId] }],
} satisfies Feature;
