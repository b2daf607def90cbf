import { apiRoute } from "../../../http/api-route.ts";
import { json, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { StackParams } from "../../projects/stacks/schemas.ts";
import { presentDeployment } from "./presenters.ts";
import {
  Deployment,
  DeploymentList,
  DeploymentOfEnvironmentParams,
  DeploymentQuery,
  toDeploymentPage,
} from "./schemas.ts";
import { getDeployment, listDeploymentsOfStack } from "./service.ts";

const getOfEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments/{deployment_id}",
  operationId: "getEnvironmentDeployment",
  tags: ["Deployments"],
  summary: "Read a deployment of an environment",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  resource: true,
  request: { params: DeploymentOfEnvironmentParams },
  responses: { 200: json(Deployment, "The deployment.") },
  notFound: ["deployment"],
});

const listOfStack = apiRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}/deployments",
  operationId: "listStackDeployments",
  tags: ["Deployments"],
  summary: "List the deployments of a stack",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  polled: true,
  request: { params: StackParams, query: DeploymentQuery },
  responses: { 200: json(DeploymentList, "A page of deployments.") },
  notFound: ["stack"],
});

export const scopedDeploymentRoutes = createRouter()
  .openapi(getOfEnvironment, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getDeployment(ctx, params.deployment_id, params.environment_id),
      presentDeployment,
    );
  })
  .openapi(listOfStack, (c) =>
    page(
      c,
      (ctx) =>
        listDeploymentsOfStack(
          ctx,
          c.req.valid("param").stack_id,
          toDeploymentPage(c.req.valid("query")),
        ),
      presentDeployment,
    ),
  );
