import type { Feature } from "../../../feature.ts";

export const healthFeature = {
  routes: [{ paths: ["/health"], load: async () => (await import("./routes.ts")).healthRoutes }],
} satisfies Feature;
