import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { promote, redeploy } from "./copy-service.ts";
import { createDeployment } from "./creation-service.ts";
import type { Documented } from "./document.ts";
import { presentDeployment } from "./presenters.ts";
import {
  CreateDeployment,
  DeploymentParams,
  DeploymentQuery,
  PromoteDeployment,
  toDeploymentPage,
  toInput,
} from "./schemas.ts";
import { cancelDeployment, getDeployment, listDeployments } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/deployments",
  operationId: "listDeployments",
  polled: true,
  presentEach: presentDeployment,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ query: DeploymentQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}",
  operationId: "getDeployment",
  resource: true,
  present: presentDeployment,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "createDeployment",
  status: 201,
  resource: true,
  present: presentDeployment,
  location: get,
  scope: "deployments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(CreateDeployment()) }),
});

const cancel = operation({
  method: "patch",
  path: "/v1/deployments/{deployment_id}/cancel",
  operationId: "cancelDeployment",
  exemptFromBudget: true,
  resource: true,
  present: presentDeployment,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams() }),
});

const redeployment = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/redeploy",
  operationId: "redeployDeployment",
  status: 201,
  resource: true,
  present: presentDeployment,
  location: get,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams() }),
});

const promotion = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/promote",
  operationId: "promoteDeployment",
  status: 201,
  resource: true,
  present: presentDeployment,
  location: get,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams(), body: jsonBody(PromoteDeployment()) }),
});

export const deploymentRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, query }) => listDeployments(ctx, toDeploymentPage(query)))
  .handle(get, ({ ctx, params }) => getDeployment(ctx, params.deployment_id))
  .handle(create, ({ ctx, params, body }) =>
    createDeployment(ctx, params.environment_id, toInput(body)),
  )
  .handle(cancel, ({ ctx, params }) => cancelDeployment(ctx, params.deployment_id))
  .handle(redeployment, ({ ctx, params }) => redeploy(ctx, params.deployment_id))
  .handle(promotion, ({ ctx, params, body }) =>
    promote(ctx, params.deployment_id, body.environment_id),
  );
