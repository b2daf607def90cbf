import type { Feature } from "../../feature.ts";
import { organizationRoutes } from "./routes.ts";
import { organizations } from "./table.ts";

export const organizationsFeature = {
  routes: { apiKey: [organizationRoutes] },
  tables: [
    {
      table: organizations,
      deletedWith: [],
    },
  ],
} satisfies Feature;
