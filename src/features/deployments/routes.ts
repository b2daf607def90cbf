import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import { CONFIGURATION_CLEARED, promote, redeploy } from "./copy-service.ts";
import { createDeployment } from "./creation-service.ts";
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

const list = operation({
  method: "get",
  path: "/v1/deployments",
  operationId: "listDeployments",
  tags: ["Deployments"],
  summary: "List the deployments of your organization",
  polled: true,
  scope: "deployments:read",
  description:
    "Returns the deployments of the projects that you may read. An admin may read all of them.",
  policy: "polling",
  request: { query: DeploymentQuery() },
  responses: { 200: jsonReply(DeploymentList(), "A page of deployments.") },
});

const get = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}",
  operationId: "getDeployment",
  tags: ["Deployments"],
  summary: "Read a deployment",
  role: "viewer",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  notFound: ["deployment"],
  request: { params: DeploymentParams() },
  responses: { 200: jsonReply(Deployment(), "The deployment.") },
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "createDeployment",
  tags: ["Deployments"],
  summary: "Deploy an environment",
  role: "contributor",
  record: true,
  scope: "deployments:write",
  description:
    `${CONNECTED} The patch is applied to a copy of the environment's ` +
    "configuration. The copy becomes the environment's configuration when the deployment succeeds. " +
    "If the configuration changes before a runner starts the deployment, the start applies the " +
    "patch to the new one and updates `data.patch`. If the patch no longer applies, the deployment " +
    "fails with the reason `patch_conflict`.",
  notFound: ["environment", "stack in the environment"],
  errors: {
    patch_test_failed: new BadInput([
      { path: "patch.0", message: '"/replicas" does not have the value of the test.' },
    ]),
    not_connected: new Conflict(
      "The project is not connected to a cloud provider. Connect it first.",
    ),
    deployment_limit: new LimitReached(
      LIMITS.unfinishedDeployments.value,
      "unfinished deployments of an environment",
    ),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: EnvironmentParams(), body: jsonBody(CreateDeployment()) },
  responses: { 201: jsonReply(Deployment(), "The deployment, queued.") },
});

const cancel = operation({
  method: "patch",
  path: "/v1/deployments/{deployment_id}/cancel",
  operationId: "cancelDeployment",
  tags: ["Deployments"],
  summary: "Cancel a deployment",
  role: "contributor",
  record: true,
  scope: "deployments:write",
  description:
    `A deployment that has not started is \`canceled\` immediately; a running ` +
    "one is `canceling`, for at most 120 seconds. One that has ended otherwise is a `conflict`.",
  notFound: ["deployment"],
  errors: {
    deployment_ended: new Conflict("The deployment has ended: it is succeeded."),
  },
  request: { params: DeploymentParams() },
  responses: { 200: jsonReply(Deployment(), "The deployment.") },
});

const redeployment = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/redeploy",
  operationId: "redeployDeployment",
  tags: ["Deployments"],
  summary: "Deploy again, or roll back",
  role: "contributor",
  record: true,
  scope: "deployments:write",
  description:
    `${CONNECTED} Creates a deployment of the configuration and source of ` +
    "this one. Later changes to the environment's configuration do not affect it.",
  notFound: ["deployment"],
  errors: {
    not_connected: new Conflict(
      "The project is not connected to a cloud provider. Connect it first.",
    ),
    configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
  },
  request: { params: DeploymentParams() },
  responses: { 201: jsonReply(Deployment(), "The new deployment, queued.") },
});

const promotion = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/promote",
  operationId: "promoteDeployment",
  tags: ["Deployments"],
  summary: "Promote a deployment to another environment",
  role: "contributor",
  record: true,
  scope: "deployments:write",
  description:
    `${CONNECTED} Creates a deployment of all stacks of the other ` +
    "environment, to the configuration and source of this one, which must have succeeded.",
  notFound: ["deployment", "environment", "environment in the project"],
  errors: {
    not_connected: new Conflict(
      "The project is not connected to a cloud provider. Connect it first.",
    ),
    not_succeeded: new Conflict(
      "Only a deployment that has succeeded can be promoted: this one is failed.",
    ),
    configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
  },
  request: { params: DeploymentParams(), body: jsonBody(PromoteDeployment()) },
  responses: { 201: jsonReply(Deployment(), "The new deployment, queued.") },
});

export const deploymentRoutes = createRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    return c.json(toEnvelope(await listDeployments(c.env, page), presentDeployment), 200);
  })
  .openapi(get, async (c) => {
    const deployment = await getDeployment(c.env, c.req.valid("param").deployment_id);
    return c.json(await tagged(c, deployment.recordVersion, presentDeployment(deployment)), 200);
  })
  .openapi(create, async (c) => {
    const { environment_id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    const deployment = await once(c.env, createDeployment, environment_id, input);
    setLocation(c, get, { deployment_id: deployment.id });
    return c.json(await tagged(c, deployment.recordVersion, presentDeployment(deployment)), 201);
  })
  .openapi(cancel, async (c) => {
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, cancelDeployment, deployment_id);
    return c.json(await tagged(c, deployment.recordVersion, presentDeployment(deployment)), 200);
  })
  .openapi(redeployment, async (c) => {
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, redeploy, deployment_id);
    setLocation(c, get, { deployment_id: deployment.id });
    return c.json(await tagged(c, deployment.recordVersion, presentDeployment(deployment)), 201);
  })
  .openapi(promotion, async (c) => {
    const { environment_id } = c.req.valid("json");
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, promote, deployment_id, environment_id);
    setLocation(c, get, { deployment_id: deployment.id });
    return c.json(await tagged(c, deployment.recordVersion, presentDeployment(deployment)), 201);
  });

function toInput({ patch = [], queue = "supersede", ...rest }: Output<typeof CreateDeployment>) {
  return { patch, queue, source: rest.source, stackIds: rest.stack_ids, reason: rest.reason };
}
