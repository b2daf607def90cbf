import type { Feature } from "../../../feature.ts";
import { componentRoutes } from "./routes.ts";
import { COMPONENT_TOMBSTONE, components } from "./table.ts";

export const componentsFeature = {
  routes: { apiKey: [componentRoutes] },
  tables: [
    {
      table: components,
      deletedWith: [components.environmentId, components.projectId],
      tombstone: { resourceType: "component", columns: COMPONENT_TOMBSTONE },
    },
  ],
} satisfies Feature;
