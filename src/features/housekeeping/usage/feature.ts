import type { Feature } from "../../../feature.ts";
import { usageRoutes } from "./routes.ts";
import { limitChecks, usage } from "./table.ts";

export const usageFeature = {
  routes: { apiKey: [usageRoutes] },
  tables: [
    {
      table: usage,
      deletedWith: [],
      notInBackups: "Triggers count the rows again when they are restored.",
    },
    {
      table: limitChecks,
      deletedWith: [],
      notInBackups: "It is always empty.",
    },
  ],
} satisfies Feature;
