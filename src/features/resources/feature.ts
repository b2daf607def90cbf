import type { Feature } from "../../feature.ts";
import { resourceRoutes } from "./routes.ts";
import { resources } from "./table.ts";

export const resourcesFeature = {
  tags: [
    {
      name: "Resources",
      description: "The parts of stacks at the provider, as runners report them.",
    },
  ],
  routes: { apiKey: [resourceRoutes] },
  tables: [
    {
      table: resources,
      deletedWith: [resources.stackId, resources.environmentId, resources.projectId],
      purged: true,
    },
  ],
} satisfies Feature;
