import type { Feature } from "../../feature.ts";
import { usageRoutes } from "./routes.ts";
import { limitChecks, usage } from "./table.ts";

export const usageFeature = {
  routes: { apiKey: [usageRoutes] },
  tables: [
    {
      table: usage,
      deletedWith: [],
    },
    {
      table: limitChecks,
      deletedWith: [],
    },
  ],
} satisfies Feature;
