import type { Feature } from "../../../feature.ts";
import { COMPONENT_TOMBSTONE, components } from "../../tenancy/component-table.ts";

export const componentsFeature = {
  routes: [
    {
      paths: ["/v1/environments/:environment_id/components", "/v1/components/:component_id"],
      load: async () => (await import("./routes.ts")).componentRoutes,
    },
  ],
  tables: [
    {
      table: components,
      deletedWith: [components.environmentId, components.projectId],
      tombstone: { resourceType: "component", columns: COMPONENT_TOMBSTONE },
    },
  ],
} satisfies Feature;
