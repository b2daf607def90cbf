import type { Feature } from "../../../feature.ts";
import { bootstraps } from "./table.ts";

export const bootstrapFeature = {
  routes: [
    { paths: ["/v1/bootstrap"], load: async () => (await import("./routes.ts")).bootstrapRoutes },
  ],
  tables: [
    {
      table: bootstraps,
      deletedWith: [],
      outlivesOrganization:
        "An installation is bootstrapped once, also if it has no organization left.",
    },
  ],
} satisfies Feature;
