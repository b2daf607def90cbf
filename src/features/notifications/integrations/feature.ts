import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import {
  INTEGRATION_TOMBSTONE,
  integrations,
} from "../../housekeeping/outbox/integration-table.ts";
import { secretContext, urlContext } from "./secret.ts";
import { sweepIntegrations } from "./service.ts";

const { id, organizationId, projectId } = integrations;
const KEYS = { id, organizationId, projectId };

export const integrationsFeature = {
  routes: [
    {
      paths: [
        "/v1/projects/:project_id/notification-integrations",
        "/v1/projects/:project_id/notification-integrations/:integration_id",
        "/v1/projects/:project_id/notification-integrations/:integration_id/rotate-secret",
        "/v1/projects/:project_id/notification-integrations/:integration_id/confirm",
        "/v1/projects/:project_id/notification-integrations/:integration_id/resume",
      ],
      load: async () => (await import("./routes.ts")).integrationRoutes,
    },
  ],
  tables: [
    {
      table: integrations,
      deletedWith: [integrations.projectId],
      tombstone: { resourceType: "integration", columns: INTEGRATION_TOMBSTONE },
    },
  ],
  sealedColumns: [
    sealedColumn(integrations.url, KEYS, urlContext),
    sealedColumn(integrations.secret, KEYS, secretContext),
    sealedColumn(integrations.previousSecret, KEYS, secretContext),
  ],
  sweep: sweepIntegrations,
} satisfies Feature;
