import type { Feature } from "../../../feature.ts";
import { sweepLogs } from "./refresh.ts";

export const logsFeature = {
  routes: [
    {
      paths: ["/v1/deployments/:deployment_id/logs"],
      load: async () => (await import("./routes.ts")).logRoutes,
    },
    {
      paths: ["/v1/runner/attempts/:attempt_id/logs"],
      load: async () => (await import("./runner-routes.ts")).logRunnerRoutes,
    },
  ],
  sweep: sweepLogs,
} satisfies Feature;
