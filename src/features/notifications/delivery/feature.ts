import type { Feature } from "../../../feature.ts";
import { deliveryRoutes } from "./routes.ts";
import { sweepDeliveries } from "./sweep.ts";

export const deliveryFeature = {
  tags: [
    {
      name: "Deliveries",
      description: "The events sent to an integration, and the result of each attempt.",
    },
    {
      name: "Webhooks",
      description:
        "Longshore sends events to a webhook by POST, signed as Standard Webhooks specifies: its " +
        "libraries verify them. The type in the body is one of those below. An event may arrive more " +
        "than once, with the same `webhook-id`, and events may arrive in any order.",
    },
  ],
  routes: { apiKey: [deliveryRoutes] },
  sweep: sweepDeliveries,
} satisfies Feature;
