import type { Feature } from "../../../feature.ts";
import { sweepDeliveries } from "./sweep.ts";

export const deliveryFeature = {
  routes: [
    {
      paths: [
        "/v1/projects/:project_id/notification-integrations/:integration_id/deliveries",
        "/v1/projects/:project_id/notification-integrations/:integration_id/deliveries/:delivery_id",
        "/v1/projects/:project_id/notification-integrations/:integration_id/deliveries/:delivery_id/redeliver",
        "/v1/projects/:project_id/notification-integrations/:integration_id/ping",
      ],
      load: async () => (await import("./routes.ts")).deliveryRoutes,
    },
  ],
  sweep: sweepDeliveries,
} satisfies Feature;
