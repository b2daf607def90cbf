import { jsonWithTag } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { StackParams } from "../stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentDeployment } from "./presenters.ts";
import { DeploymentOfEnvironmentParams, DeploymentQuery } from "./schemas.ts";
import { getDeployment, listDeploymentsOfEnvironment, listDeploymentsOfStack } from "./service.ts";

const listOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "listEnvironmentDeployments",
  polled: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: EnvironmentParams(), query: DeploymentQuery() }),
});

const getOfEnvironment = operation({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments/{deployment_id}",
  operationId: "getEnvironmentDeployment",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentOfEnvironmentParams() }),
});

const listOfStack = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/deployments",
  operationId: "listStackDeployments",
  polled: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: StackParams(), query: DeploymentQuery() }),
});

export const scopedDeploymentRoutes = createRouter<Documented>()
  .openapi(listOfEnvironment, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    const { environment_id } = c.req.valid("param");
    const found = await listDeploymentsOfEnvironment(c.env, environment_id, page);
    return c.json(toEnvelope(found, presentDeployment), 200);
  })
  .openapi(getOfEnvironment, async (c) => {
    const { environment_id, deployment_id } = c.req.valid("param");
    const deployment = await getDeployment(c.env, deployment_id, environment_id);
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 200);
  })
  .openapi(listOfStack, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    const found = await listDeploymentsOfStack(c.env, c.req.valid("param").stack_id, page);
    return c.json(toEnvelope(found, presentDeployment), 200);
  });
