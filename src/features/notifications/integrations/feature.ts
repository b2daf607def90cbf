import { sealedColumn } from "../../../db/sealed-column.ts";
import type { Feature } from "../../../feature.ts";
import {
  INTEGRATION_TOMBSTONE,
  integrations,
} from "../../housekeeping/outbox/integration-table.ts";
import { integrationRoutes } from "./routes.ts";
import { secretContext, urlContext } from "./secret.ts";
import { sweepIntegrations } from "./service.ts";

const { id, organizationId, projectId } = integrations;
const KEYS = { id, organizationId, projectId };

export const integrationsFeature = {
  routes: { apiKey: [integrationRoutes] },
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
