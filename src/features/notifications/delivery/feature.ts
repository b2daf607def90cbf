import type { Feature } from "../../../feature.ts";
import { deliveryRoutes } from "./routes.ts";
import { sweepDeliveries } from "./sweep.ts";

export const deliveryFeature = {
  routes: { apiKey: [deliveryRoutes] },
  sweep: sweepDeliveries,
} satisfies Feature;
