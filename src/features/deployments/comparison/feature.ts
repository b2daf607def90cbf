import type { Feature } from "../../../feature.ts";
import { comparisonRoutes } from "./routes.ts";

export const comparisonFeature = { routes: { apiKey: [comparisonRoutes] } } satisfies Feature;
