import type { Feature } from "../../../feature.ts";
import { accountRoutes } from "./routes.ts";

export const accountFeature = {
  routes: { apiKey: [accountRoutes] },
} satisfies Feature;
