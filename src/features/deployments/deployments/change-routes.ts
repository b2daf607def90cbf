import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { previewPromotion, previewRedeployment } from "./copy-service.ts";
import type { Documented } from "./document.ts";
import { type ConfigurationChange, presentPreview } from "./presenters.ts";
import { DeploymentOfEnvironmentParams, DeploymentParams } from "./schemas.ts";
import { compareConfigurations } from "./service.ts";

const configuration = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/configuration",
  operationId: "getDeploymentConfiguration",
  present: (change: ConfigurationChange) => change,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const redeployment = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/redeployment",
  operationId: "previewRedeployment",
  present: presentPreview,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const promotion = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/promotion/{environment_id}",
  operationId: "previewPromotion",
  present: presentPreview,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentOfEnvironmentParams() }),
});

/** What deployments change. */
export const changeRoutes = createRouter<Documented>()
  .handle(configuration, ({ ctx, params }) => compareConfigurations(ctx, params.deployment_id))
  .handle(redeployment, ({ ctx, params }) => previewRedeployment(ctx, params.deployment_id))
  .handle(promotion, ({ ctx, params }) =>
    previewPromotion(ctx, params.deployment_id, params.environment_id),
  );
