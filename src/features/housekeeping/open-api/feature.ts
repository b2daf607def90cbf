import type { Feature } from "../../../feature.ts";

export const openApiFeature = {
  routes: [
    { paths: ["/openapi.json"], load: async () => (await import("./routes.ts")).openApiRoutes },
  ],
} satisfies Feature;
