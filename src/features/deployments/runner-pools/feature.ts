import type { Feature } from "../../../feature.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";
import { runnerPoolEnvironments, runners } from "./table.ts";

export const runnerPoolsFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/runner-pools", "/v1/orgs/:org_id/runner-pools/:pool_id"],
      load: async () => (await import("./routes.ts")).runnerPoolRoutes,
    },
  ],
  tables: [
    {
      table: runnerPools,
      deletedWith: [],
    },
    {
      table: runnerPoolEnvironments,
      deletedWith: [runnerPoolEnvironments.poolId, runnerPoolEnvironments.environmentId],
    },
    {
      table: runners,
      deletedWith: [runners.poolId],
    },
  ],
} satisfies Feature;
