import type { Feature } from "../../feature.ts";
import { attemptRoutes } from "./attempts/routes.ts";
import { runnerPoolRoutes } from "./routes.ts";
import { runnerPoolEnvironments, runnerPools, runnerTokens } from "./table.ts";

export const runnerPoolsFeature = {
  routes: { apiKey: [runnerPoolRoutes, attemptRoutes] },
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
