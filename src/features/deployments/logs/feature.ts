import type { Feature } from "../../../feature.ts";
import { sweepLogs } from "./refresh.ts";
import { logRoutes } from "./routes.ts";
import { logRunnerRoutes } from "./runner-routes.ts";

export const logsFeature = {
  routes: { apiKey: [logRoutes], runnerToken: [logRunnerRoutes] },
  sweep: sweepLogs,
} satisfies Feature;
