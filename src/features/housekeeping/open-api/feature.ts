import type { Feature } from "../../../feature.ts";
import { openApiRoutes } from "./routes.ts";

export const openApiFeature = {
  routes: { public: () => [openApiRoutes] },
} satisfies Feature;
