import type { Feature } from "../../../feature.ts";
import { componentRoutes } from "./routes.ts";
import { components } from "./table.ts";

export const componentsFeature = {
  routes: { apiKey: [componentRoutes] },
  tables: [
    {
      table: components,
      deletedWith: [components.environmentId, components.projectId],
    },
  ],
} satisfies Feature;
