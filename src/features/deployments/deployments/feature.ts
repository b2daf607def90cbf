import type { Feature } from "../../../feature.ts";
import { sweepDeployments } from "./service.ts";
import { CHILDREN, hasLog, IS_HISTORY, IS_OUTDATED, isIdle } from "./store.ts";
import {
  attempts,
  configurationDigests,
  deploymentStacks,
  deployments,
  environmentSuccesses,
} from "./table.ts";

export const deploymentsFeature = {
  routes: [
    {
      paths: [
        "/v1/deployments",
        "/v1/environments/:environment_id/deployments",
        "/v1/deployments/:deployment_id",
        "/v1/deployments/:deployment_id/cancel",
        "/v1/deployments/:deployment_id/redeploy",
        "/v1/deployments/:deployment_id/promote",
      ],
      load: async () => (await import("./routes.ts")).deploymentRoutes,
    },
    {
      paths: [
        "/v1/environments/:environment_id/deployments/:deployment_id",
        "/v1/stacks/:stack_id/deployments",
      ],
      load: async () => (await import("./scoped-routes.ts")).scopedDeploymentRoutes,
    },
    {
      paths: [
        "/v1/deployments/:deployment_id/configuration",
        "/v1/environments/:environment_id/deployment-preview",
        "/v1/deployments/:deployment_id/redeployment",
        "/v1/deployments/:deployment_id/promotion/:environment_id",
      ],
      load: async () => (await import("./change-routes.ts")).changeRoutes,
    },
  ],
  tables: [
    {
      table: deployments,
      deletedWith: [deployments.environmentId, deployments.projectId],
      purged: true,
      hasLog,
      isIdle,
      rolled: { indexed: IS_HISTORY, mayGo: IS_OUTDATED, children: CHILDREN },
    },
    {
      table: deploymentStacks,
      deletedWith: [deploymentStacks.deploymentId, deploymentStacks.environmentId],
      purged: true,
    },
    {
      table: environmentSuccesses,
      deletedWith: [environmentSuccesses.deploymentId, environmentSuccesses.environmentId],
      purged: true,
    },
    {
      table: configurationDigests,
      deletedWith: [configurationDigests.deploymentId, configurationDigests.environmentId],
      purged: true,
    },
    {
      table: attempts,
      deletedWith: [attempts.deploymentId, attempts.environmentId, attempts.poolId],
      purged: true,
    },
  ],
  sweep: sweepDeployments,
} satisfies Feature;
