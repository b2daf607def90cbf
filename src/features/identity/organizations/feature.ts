import type { Feature } from "../../../feature.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { organizationRoutes } from "./routes.ts";

export const organizationsFeature = {
  routes: { apiKey: [organizationRoutes] },
  tables: [
    {
      table: organizations,
      deletedWith: [],
    },
  ],
} satisfies Feature;
