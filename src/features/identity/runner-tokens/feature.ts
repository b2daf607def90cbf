import type { Feature } from "../../../feature.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { runnerTokenRoutes } from "./routes.ts";

export const runnerTokensFeature = {
  routes: { apiKey: [runnerTokenRoutes] },
  tables: [
    {
      table: runnerTokens,
      deletedWith: [runnerTokens.poolId],
    },
  ],
} satisfies Feature;
