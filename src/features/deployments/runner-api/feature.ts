import type { Feature } from "../../../feature.ts";
import { runnerRoutes } from "./routes.ts";

export const runnerApiFeature = {
  routes: { runnerToken: [runnerRoutes] },
} satisfies Feature;
