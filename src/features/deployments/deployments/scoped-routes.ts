import { operation } from "../../../http/operation.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { StackParams } from "../../projects/stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentDeployment } from "./presenters.ts";
import { DeploymentOfEnvironmentParams, DeploymentQuery, toDeploymentPage } from "./schemas.ts";
import { getDeployment, listDeploymentsOfEnvironment, listDeploymentsOfStack } from "./service.ts";

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "listEnvironmentDeployments",
  polled: true,
  presentEach: presentDeployment,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: EnvironmentParams(), query: DeploymentQuery() }),
});

const getOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments/{deployment_id}",
  operationId: "getEnvironmentDeployment",
  resource: true,
  present: presentDeployment,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentOfEnvironmentParams() }),
});

const listOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/deployments",
  operationId: "listStackDeployments",
  polled: true,
  presentEach: presentDeployment,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: StackParams(), query: DeploymentQuery() }),
});

export const scopedDeploymentRoutes = createRouter<Documented>()
  .handle(listOfEnvironment, ({ ctx, params, query }) =>
    listDeploymentsOfEnvironment(ctx, params.environment_id, toDeploymentPage(query)),
  )
  .handle(getOfEnvironment, ({ ctx, params }) =>
    getDeployment(ctx, params.deployment_id, params.environment_id),
  )
  .handle(listOfStack, ({ ctx, params, query }) =>
    listDeploymentsOfStack(ctx, params.stack_id, toDeploymentPage(query)),
  );
