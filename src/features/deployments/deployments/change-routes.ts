import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { type ConfigurationChange, presentPreview } from "./presenters.ts";
import { previewDeployment, previewPromotion, previewRedeployment } from "./preview-service.ts";
import {
  CreateDeployment,
  DeploymentOfEnvironmentParams,
  DeploymentParams,
  toInput,
} from "./schemas.ts";
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

const deployment = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/deployment-preview",
  operationId: "previewDeployment",
  present: presentPreview,
  scope: "deployments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(CreateDeployment()) }),
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
  .handle(deployment, ({ ctx, params, body }) =>
    previewDeployment(ctx, params.environment_id, toInput(body)),
  )
  .handle(redeployment, ({ ctx, params }) => previewRedeployment(ctx, params.deployment_id))
  .handle(promotion, ({ ctx, params }) =>
    previewPromotion(ctx, params.deployment_id, params.environment_id),
  );
