import type { Feature } from "../../../feature.ts";
import { apiKeys, revokedKeys } from "../credentials/api-key-table.ts";

export const apiKeysFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/api-keys",
        "/v1/orgs/:org_id/api-keys/:key_id",
        "/v1/orgs/:org_id/api-keys/:key_id/rotate",
      ],
      load: async () => (await import("./routes.ts")).apiKeyRoutes,
    },
    {
      paths: ["/v1/orgs/:org_id/api-key-policy"],
      load: async () => (await import("./policy-routes.ts")).apiKeyPolicyRoutes,
    },
  ],
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
