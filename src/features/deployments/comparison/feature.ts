import type { Feature } from "../../../feature.ts";

export const comparisonFeature = {
  routes: [
    {
      paths: ["/v1/environments/:environment_id/comparison"],
      load: async () => (await import("./routes.ts")).comparisonRoutes,
    },
  ],
} satisfies Feature;
