import type { Feature } from "../../../feature.ts";

export const attemptsFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/runner-pools/:pool_id/attempts",
        "/v1/orgs/:org_id/runner-pools/:pool_id/runners",
      ],
      load: async () => (await import("./routes.ts")).attemptRoutes,
    },
  ],
} satisfies Feature;
