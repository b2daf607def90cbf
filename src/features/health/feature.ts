import type { Feature } from "../../feature.ts";
import { healthRoutes } from "./routes.ts";

export const healthFeature = {
  tags: [{ name: "Service", description: "Set-up, health, and this reference." }],
  routes: { public: ({ createContext }) => healthRoutes(createContext) },
} satisfies Feature;
