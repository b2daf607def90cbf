import type { Feature } from "../../feature.ts";
import { LIMITS } from "../../lib/limits.ts";
import { componentRoutes } from "./routes.ts";
import { components } from "./table.ts";

export const componentsFeature = {
  routes: { apiKey: [componentRoutes] },
  quotas: { components: LIMITS.components.value },
  tables: [
    {
      table: components,
      deletedWith: [components.environmentId, components.projectId],
    },
  ],
} satisfies Feature;
