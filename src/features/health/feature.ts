import type { Feature } from "../../feature.ts";
import { healthRoutes } from "./routes.ts";

export const healthFeature = {
  tags: [
    { name: "Service", description: "The service itself: bootstrap, health, and this reference." },
  ],
  routes: { open: () => healthRoutes },
} satisfies Feature;
