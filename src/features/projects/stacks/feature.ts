import type { Feature } from "../../../feature.ts";
import { STACK_TOMBSTONE, stacks } from "../../tenancy/stack-table.ts";

export const stacksFeature = {
  routes: [
    {
      paths: [
        "/v1/environments/:environment_id/stacks",
        "/v1/environments/:environment_id/stack-order",
        "/v1/stacks/:stack_id",
      ],
      load: async () => (await import("./routes.ts")).stackRoutes,
    },
  ],
  tables: [
    {
      table: stacks,
      deletedWith: [stacks.environmentId, stacks.projectId],
      tombstone: { resourceType: "stack", columns: STACK_TOMBSTONE },
      clearedWith: [stacks.componentId],
    },
  ],
} satisfies Feature;
