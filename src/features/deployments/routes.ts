import { createRoute, type z } from "@hono/zod-openapi";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { API_KEY, ERROR_REPLIES, jsonBody, jsonReply, NEEDS } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { createDeployment, promote, redeploy } from "./creation-service.ts";
import { presentDeployment } from "./presenters.ts";
import {
  CreateDeployment,
  Deployment,
  DeploymentList,
  DeploymentParams,
  DeploymentQuery,
  PromoteDeployment,
} from "./schemas.ts";
import { cancelDeployment, getDeployment, listDeployments } from "./service.ts";

const CONNECTED = "If the project is not connected, the reply is a `conflict`.";

const list = createRoute({
  method: "get",
  path: "/v1/deployments",
  operationId: "listDeployments",
  tags: ["Deployments"],
  summary: "List the deployments of your organization",
  description: "Shows those of the projects that you may read: all of them to an admin.",
  security: API_KEY,
  "x-ratelimit-policy": "polling",
  request: { query: DeploymentQuery },
  responses: { 200: jsonReply(DeploymentList, "A page of deployments."), ...ERROR_REPLIES },
});

const get = createRoute({
  method: "get",
  path: "/v1/deployments/{id}",
  operationId: "getDeployment",
  tags: ["Deployments"],
  summary: "Read a deployment",
  description: NEEDS.viewer,
  security: API_KEY,
  "x-ratelimit-policy": "polling",
  request: { params: DeploymentParams },
  responses: { 200: jsonReply(Deployment, "The deployment."), ...ERROR_REPLIES },
});

const create = createRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "createDeployment",
  tags: ["Deployments"],
  summary: "Deploy an environment",
  description:
    `${NEEDS.contributor} ${CONNECTED} The patch is applied to a copy of the environment's ` +
    "configuration, which becomes the environment's when the deployment succeeds. If the " +
    "configuration changes before a runner starts the deployment, the start applies the patch to " +
    "the new one, and `data.patch` shows it as it is executed. If it no longer applies, the " +
    "deployment fails with the reason `patch_conflict`.",
  security: API_KEY,
  request: { params: EnvironmentParams, body: jsonBody(CreateDeployment) },
  responses: { 201: jsonReply(Deployment, "The deployment, queued."), ...ERROR_REPLIES },
});

const cancel = createRoute({
  method: "patch",
  path: "/v1/deployments/{id}/cancel",
  operationId: "cancelDeployment",
  tags: ["Deployments"],
  summary: "Cancel a deployment",
  description:
    `${NEEDS.contributor} What has not started is \`canceled\` at once; what runs is ` +
    "`canceling`, for 120 seconds at the most. What has ended otherwise is a `conflict`.",
  security: API_KEY,
  request: { params: DeploymentParams },
  responses: { 200: jsonReply(Deployment, "The deployment."), ...ERROR_REPLIES },
});

const again = createRoute({
  method: "post",
  path: "/v1/deployments/{id}/redeploy",
  operationId: "redeployDeployment",
  tags: ["Deployments"],
  summary: "Deploy again, or roll back",
  description:
    `${NEEDS.contributor} ${CONNECTED} A new deployment, to the configuration and source of ` +
    "this one, whatever the environment's configuration is by its start.",
  security: API_KEY,
  request: { params: DeploymentParams },
  responses: { 201: jsonReply(Deployment, "The new deployment, queued."), ...ERROR_REPLIES },
});

const toAnother = createRoute({
  method: "post",
  path: "/v1/deployments/{id}/promote",
  operationId: "promoteDeployment",
  tags: ["Deployments"],
  summary: "Promote a deployment to another environment",
  description:
    `${NEEDS.contributor} ${CONNECTED} A new deployment of the other environment, over all of ` +
    "its stacks, to the configuration and source of this one, which has to have succeeded.",
  security: API_KEY,
  request: { params: DeploymentParams, body: jsonBody(PromoteDeployment) },
  responses: { 201: jsonReply(Deployment, "The new deployment, queued."), ...ERROR_REPLIES },
});

export const deploymentRoutes = createRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    return c.json(toEnvelope(await listDeployments(c.env, page), presentDeployment), 200);
  })
  .openapi(get, async (c) => {
    const deployment = await getDeployment(c.env, c.req.valid("param").id);
    return c.json(presentDeployment(deployment), 200);
  })
  .openapi(create, async (c) => {
    const { environment_id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    return c.json(presentDeployment(await createDeployment(c.env, environment_id, input)), 201);
  })
  .openapi(cancel, async (c) => {
    const deployment = await cancelDeployment(c.env, c.req.valid("param").id);
    return c.json(presentDeployment(deployment), 200);
  })
  .openapi(again, async (c) => {
    const deployment = await redeploy(c.env, c.req.valid("param").id);
    return c.json(presentDeployment(deployment), 201);
  })
  .openapi(toAnother, async (c) => {
    const { environment_id } = c.req.valid("json");
    const deployment = await promote(c.env, c.req.valid("param").id, environment_id);
    return c.json(presentDeployment(deployment), 201);
  });

function toInput({ patch = [], queue = "supersede", ...rest }: z.output<typeof CreateDeployment>) {
  return { patch, queue, source: rest.source, stackIds: rest.stack_ids, reason: rest.reason };
}
