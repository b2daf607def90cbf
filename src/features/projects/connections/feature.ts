import type { Feature } from "../../../feature.ts";
import { connectionRoutes } from "./routes.ts";

export const connectionsFeature = {
  routes: { apiKey: [connectionRoutes] },
} satisfies Feature;
