import type { Feature } from "../../../feature.ts";
import { familyRoutes } from "./routes.ts";

export const familiesFeature = { routes: { apiKey: [familyRoutes] } } satisfies Feature;
