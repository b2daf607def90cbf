import type { Feature } from "../../../feature.ts";
import { protectionRoutes } from "./routes.ts";

export const protectionFeature = {
  routes: { apiKey: [protectionRoutes] },
} satisfies Feature;
