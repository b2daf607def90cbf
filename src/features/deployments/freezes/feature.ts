import type { Feature } from "../../../feature.ts";
import { freezes } from "./table.ts";

export const freezesFeature = {
  routes: [
    {
      paths: [
        "/v1/projects/:project_id/freezes",
        "/v1/orgs/:org_id/freezes",
        "/v1/freezes/:freeze_id",
      ],
      load: async () => (await import("./routes.ts")).freezeRoutes,
    },
  ],
  tables: [{ table: freezes, deletedWith: [freezes.projectId] }],
} satisfies Feature;
