import type { Feature } from "../../feature.ts";
import { apiKeyRoutes } from "./routes.ts";
import { apiKeys } from "./table.ts";

export const apiKeysFeature = {
  tags: [
    {
      name: "API keys",
      description: "Credentials for one organization. Each key belongs to one membership.",
    },
  ],
  routes: { apiKey: [apiKeyRoutes] },
  tables: [
    {
      table: apiKeys,
      deletedWith: [apiKeys.membershipId],
    },
  ],
} satisfies Feature;
