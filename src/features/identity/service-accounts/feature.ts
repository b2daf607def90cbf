import type { Feature } from "../../../feature.ts";

export const serviceAccountsFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/service-accounts",
        "/v1/orgs/:org_id/service-accounts/:membership_id",
      ],
      load: async () => (await import("./routes.ts")).serviceAccountRoutes,
    },
  ],
} satisfies Feature;
