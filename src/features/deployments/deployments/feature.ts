import type { Feature } from "../../../feature.ts";
import { changeRoutes } from "./change-routes.ts";
import { deploymentRoutes } from "./routes.ts";
import { scopedDeploymentRoutes } from "./scoped-routes.ts";
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
  routes: { apiKey: [deploymentRoutes, scopedDeploymentRoutes, changeRoutes] },
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
