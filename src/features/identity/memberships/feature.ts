import type { Feature } from "../../../feature.ts";
import { accounts, memberships, removedMemberships } from "../../tenancy/member-table.ts";
import { isRemovedBefore } from "./store.ts";

export const membershipsFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/members", "/v1/orgs/:org_id/members/:member_id"],
      load: async () => (await import("./routes.ts")).membershipRoutes,
    },
  ],
  tables: [
    {
      table: accounts,
      deletedWith: [],
    },
    {
      table: memberships,
      deletedWith: [],
    },
    {
      table: removedMemberships,
      deletedWith: [],
      // The ID has the time at which the membership was created.
      retention: { period: "audit", isExpired: isRemovedBefore },
    },
  ],
} satisfies Feature;
