import type { Feature } from "../../feature.ts";
import { runnerRoutes } from "./routes.ts";

export const runnerApiFeature = {
  tags: [{ name: "Runners", description: "Claiming, executing and reporting deployments." }],
  routes: { runnerToken: [runnerRoutes] },
} satisfies Feature;
