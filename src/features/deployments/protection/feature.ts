import type { Feature } from "../../../feature.ts";

export const protectionFeature = {
  routes: [
    {
      paths: ["/v1/environments/:environment_id/protection"],
      load: async () => (await import("./routes.ts")).protectionRoutes,
    },
  ],
} satisfies Feature;
