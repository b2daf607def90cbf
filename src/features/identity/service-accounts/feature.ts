import type { Feature } from "../../../feature.ts";
import { serviceAccountRoutes } from "./routes.ts";

export const serviceAccountsFeature = {
  routes: { apiKey: [serviceAccountRoutes] },
} satisfies Feature;
