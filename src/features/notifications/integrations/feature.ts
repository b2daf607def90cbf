import type { Feature } from "../../../feature.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { integrationRoutes } from "./routes.ts";
import { secretContext, urlContext } from "./secret.ts";
import { integrations } from "./table.ts";

export const integrationsFeature = {
  tags: [
    {
      name: "Notification integrations",
      description: "The destinations of a project's events, and the events they receive.",
    },
  ],
  routes: { apiKey: [integrationRoutes] },
  quotas: { integrations: LIMITS.integrations.value },
  tables: [
    {
      table: integrations,
      deletedWith: [integrations.projectId],
    },
  ],
  sealedColumns: [
    { table: "integrations", column: "url", contextOf: urlContext },
    { table: "integrations", column: "secret", contextOf: secretContext },
    { table: "integrations", column: "previous_secret", contextOf: secretContext },
  ],
} satisfies Feature;
