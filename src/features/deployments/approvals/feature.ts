import type { Feature } from "../../../feature.ts";
import { approvalRoutes } from "./routes.ts";
import { deploymentApprovals } from "./table.ts";

export const approvalsFeature = {
  routes: { apiKey: [approvalRoutes] },
  tables: [
    {
      table: deploymentApprovals,
      deletedWith: [deploymentApprovals.deploymentId, deploymentApprovals.environmentId],
      purged: true,
    },
  ],
} satisfies Feature;
