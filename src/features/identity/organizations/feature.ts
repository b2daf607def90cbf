import type { Feature } from "../../../feature.ts";
import { organizations } from "../../tenancy/organization-table.ts";

export const organizationsFeature = {
  routes: [
    {
      paths: ["/v1/orgs", "/v1/orgs/:org_id"],
      load: async () => (await import("./routes.ts")).organizationRoutes,
    },
  ],
  tables: [
    {
      table: organizations,
      deletedWith: [],
    },
  ],
} satisfies Feature;
