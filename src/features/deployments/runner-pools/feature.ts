import type { Feature } from "../../../feature.ts";
import { runnerPools } from "../../tenancy/runner-pool-table.ts";
import { runnerPoolRoutes } from "./routes.ts";
import { runnerPoolEnvironments, runners } from "./table.ts";

export const runnerPoolsFeature = {
  routes: { apiKey: [runnerPoolRoutes] },
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
