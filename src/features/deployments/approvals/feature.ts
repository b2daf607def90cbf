import type { Feature } from "../../../feature.ts";
import { deploymentApprovals } from "./table.ts";

export const approvalsFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/approvals",
        "/v1/deployments/:deployment_id/approvals",
        "/v1/deployments/:deployment_id/override",
      ],
      load: async () => (await import("./routes.ts")).approvalRoutes,
    },
  ],
  tables: [
    {
      table: deploymentApprovals,
      deletedWith: [deploymentApprovals.deploymentId, deploymentApprovals.environmentId],
      purged: true,
    },
  ],
} satisfies Feature;
