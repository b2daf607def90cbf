import type { Feature } from "../../../feature.ts";
import { healthRoutes } from "./routes.ts";

export const healthFeature = {
  routes: { public: ({ createContext }) => [healthRoutes(createContext)] },
} satisfies Feature;
