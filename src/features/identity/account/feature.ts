import type { Feature } from "../../../feature.ts";

export const accountFeature = {
  routes: [
    {
      paths: ["/v1/whoami", "/v1/account"],
      load: async () => (await import("./routes.ts")).accountRoutes,
    },
  ],
} satisfies Feature;
