import type { Feature } from "../../feature.ts";
import { apiKeyPolicyRoutes } from "./policy-routes.ts";
import { apiKeyRoutes } from "./routes.ts";
import { apiKeys, revokedKeys } from "./table.ts";

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
