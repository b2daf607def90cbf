import type { Feature } from "../../../feature.ts";
import { apiKeys, revokedKeys } from "../credentials/api-key-table.ts";
import { apiKeyPolicyRoutes } from "./policy-routes.ts";
import { apiKeyRoutes } from "./routes.ts";

export const apiKeysFeature = {
  routes: { apiKey: [apiKeyRoutes, apiKeyPolicyRoutes] },
  tables: [
    {
      table: apiKeys,
      deletedWith: [apiKeys.membershipId],
    },
    {
      table: revokedKeys,
      deletedWith: [],
    },
  ],
} satisfies Feature;
