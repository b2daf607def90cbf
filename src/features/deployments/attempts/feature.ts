import type { Feature } from "../../../feature.ts";
import { attemptRoutes } from "./routes.ts";

export const attemptsFeature = { routes: { apiKey: [attemptRoutes] } } satisfies Feature;
