import type { Feature } from "../../../feature.ts";
import { sweepUsedSignIns } from "./service.ts";
import { usedSignIns } from "./table.ts";

export const openIdConnectFeature = {
  routes: [
    {
      paths: [
        "/v1/sessions/current/organizations",
        "/v1/sessions/current/organizations/:org_id",
        "/v1/sign-in-methods",
        "/sign-in",
        "/v1/sign-in/callback",
      ],
      load: async (deps) => (await import("./routes.ts")).createOpenIdConnectRoutes(deps),
    },
    {
      paths: [
        "/v1/sign-in/organizations",
        "/v1/sign-in/organizations/:org_id",
        "/v1/sign-in/organizations/:org_id/decline",
      ],
      load: async () => (await import("./choice-routes.ts")).choiceRoutes,
    },
  ],
  tables: [{ table: usedSignIns, deletedWith: [] }],
  sweep: sweepUsedSignIns,
} satisfies Feature;
