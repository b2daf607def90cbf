import type { Feature } from "../../../feature.ts";
import { deliveryRoutes } from "./routes.ts";
import { sweepDeliveries } from "./sweep.ts";

export const deliveryFeature = {
  tags: [
    { name: "Deliveries", description: "What was sent to an integration, and what came of it." },
    {
      name: "Webhooks",
      description:
        "What is sent to a webhook, by POST, signed as Standard Webhooks says: its libraries " +
        "verify it. The type in the body is one of those below. An event may arrive more than once, " +
        "with the same `webhook-id`, and in any order.",
    },
  ],
  routes: { apiKey: [deliveryRoutes] },
  sweep: sweepDeliveries,
} satisfies Feature;
