import type { Feature } from "../../../feature.ts";
import { overviewRoutes } from "./routes.ts";

export const overviewFeature = { routes: { apiKey: [overviewRoutes] } } satisfies Feature;
