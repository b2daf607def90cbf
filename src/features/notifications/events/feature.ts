import type { Feature } from "../../../feature.ts";

export const eventsFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/events"],
      load: async () => (await import("./routes.ts")).eventRoutes,
    },
  ],
} satisfies Feature;
