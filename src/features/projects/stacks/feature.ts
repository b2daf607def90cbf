import type { Feature } from "../../../feature.ts";
import { stackRoutes } from "./routes.ts";
import { STACK_TOMBSTONE, stacks } from "./table.ts";

export const stacksFeature = {
  routes: { apiKey: [stackRoutes] },
  tables: [
    {
      table: stacks,
      deletedWith: [stacks.environmentId, stacks.projectId],
      tombstone: { resourceType: "stack", columns: STACK_TOMBSTONE },
      clearedWith: [stacks.componentId],
    },
  ],
} satisfies Feature;
