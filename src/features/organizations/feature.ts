import type { Feature } from "../../feature.ts";
import { organizationRoutes } from "./routes.ts";
import { organizations } from "./table.ts";

export const organizationsFeature = {
  tags: [{ name: "Organizations", description: "Tenants and their members." }],
  routes: { apiKey: [organizationRoutes] },
  tables: [
    {
      table: organizations,
      deletedWith: [],
    },
  ],
} satisfies Feature;
