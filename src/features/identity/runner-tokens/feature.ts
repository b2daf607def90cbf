import type { Feature } from "../../../feature.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";

export const runnerTokensFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/runner-pools/:pool_id/tokens",
        "/v1/orgs/:org_id/runner-pools/:pool_id/tokens/:token_id",
        "/v1/orgs/:org_id/runner-pools/:pool_id/tokens/:token_id/rotate",
      ],
      load: async () => (await import("./routes.ts")).runnerTokenRoutes,
    },
  ],
  tables: [
    {
      table: runnerTokens,
      deletedWith: [runnerTokens.poolId],
    },
  ],
} satisfies Feature;
