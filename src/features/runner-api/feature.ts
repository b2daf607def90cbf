import type { Feature } from "../../feature.ts";
import { runnerRoutes } from "./routes.ts";
import { sweepEverything } from "./sweep.ts";

export const runnerApiFeature = {
  tags: [
    { name: "Runners", description: "How deployments are claimed, carried out, and reported." },
  ],
  routes: { runnerToken: [runnerRoutes] },
  sweep: sweepEverything,
} satisfies Feature;
