import { operation } from "../../http/operation.ts";
import { createRouter } from "../../http/router.ts";
import { previewPromotion, previewRedeployment } from "./copy-service.ts";
import type { Documented } from "./document.ts";
import { presentPreview } from "./presenters.ts";
import { DeploymentOfEnvironmentParams, DeploymentParams } from "./schemas.ts";
import { compareConfigurations } from "./service.ts";

const configuration = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/configuration",
  operationId: "getDeploymentConfiguration",
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const redeployment = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/redeployment",
  operationId: "previewRedeployment",
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const promotion = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/promotion/{environment_id}",
  operationId: "previewPromotion",
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentOfEnvironmentParams() }),
});

/** What deployments change. */
export const changeRoutes = createRouter<Documented>()
  .openapi(configuration, async (c) => {
    const { deployment_id } = c.req.valid("param");
    return c.json(await compareConfigurations(c.env, deployment_id), 200);
  })
  .openapi(redeployment, async (c) => {
    const { deployment_id } = c.req.valid("param");
    return c.json(presentPreview(await previewRedeployment(c.env, deployment_id)), 200);
  })
  .openapi(promotion, async (c) => {
    const { deployment_id, environment_id } = c.req.valid("param");
    const preview = await previewPromotion(c.env, deployment_id, environment_id);
    return c.json(presentPreview(preview), 200);
  });
