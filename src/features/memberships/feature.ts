import type { Feature } from "../../feature.ts";
import { LIMITS } from "../../lib/limits.ts";
import { membershipRoutes } from "./routes.ts";
import { accounts, memberships } from "./table.ts";

export const membershipsFeature = {
  routes: { apiKey: [membershipRoutes] },
  quotas: { members: LIMITS.members.value },
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
