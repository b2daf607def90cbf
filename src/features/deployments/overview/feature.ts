import type { Feature } from "../../../feature.ts";

export const overviewFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/overview"],
      load: async () => (await import("./routes.ts")).overviewRoutes,
    },
  ],
} satisfies Feature;
