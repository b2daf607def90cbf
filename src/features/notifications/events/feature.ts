import type { Feature } from "../../../feature.ts";
import { eventRoutes } from "./routes.ts";

export const eventsFeature = { routes: { apiKey: [eventRoutes] } } satisfies Feature;
