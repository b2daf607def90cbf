import type { Feature } from "../../feature.ts";
import { membershipRoutes } from "./routes.ts";
import { accounts, memberships } from "./table.ts";

export const membershipsFeature = {
  routes: { apiKey: [membershipRoutes] },
  tables: [
    {
      table: accounts,
      deletedWith: [],
    },
    {
      table: memberships,
      deletedWith: [],
    },
  ],
} satisfies Feature;
