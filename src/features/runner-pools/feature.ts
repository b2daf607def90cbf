import type { Feature } from "../../feature.ts";
import { runnerPoolRoutes } from "./routes.ts";
import { runnerPoolEnvironments, runnerPools, runnerTokens } from "./table.ts";

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
      table: runnerTokens,
      deletedWith: [runnerTokens.poolId],
    },
  ],
} satisfies Feature;
