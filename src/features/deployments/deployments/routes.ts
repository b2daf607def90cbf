import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { created, json, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { CONFIGURATION_CLEARED, promote, redeploy } from "./copy-service.ts";
import { createDeployment } from "./creation-service.ts";
import { CANCEL_TIMEOUT_MS } from "./lifecycle.ts";
import { ACTIVE_OF_ENVIRONMENT, NO_STACKS, needsCommit, ProjectDisconnected } from "./model.ts";
import { presentDeployment } from "./presenters.ts";
import {
  CreateDeployment,
  Deployment,
  DeploymentList,
  DeploymentParams,
  DeploymentQuery,
  PromoteDeployment,
  toDeploymentPage,
  toInput,
  toPromotion,
} from "./schemas.ts";
import {
  cancelDeployment,
  getDeployment,
  listDeployments,
  listDeploymentsOfEnvironment,
} from "./service.ts";

const DEPLOYABLE =
  "A project that somebody has disconnected, and a deployment without stacks, are a `conflict`.";

const DISCONNECTED = new ProjectDisconnected(Date.parse("2026-11-21T09:30:00.000Z"), "Mona");

const list = apiRoute({
  method: "get",
  path: "/v1/deployments",
  operationId: "listDeployments",
  tags: ["Deployments"],
  summary: "List the deployments of your organization",
  description:
    "Returns the deployments of the projects that you may read. An admin may read all of them.",
  access: { scope: "deployments:read" },
  policy: "polling",
  polled: true,
  request: { query: DeploymentQuery },
  responses: { 200: json(DeploymentList, "A page of deployments.") },
});

const get = apiRoute({
  method: "get",
  path: "/v1/deployments/{deployment_id}",
  operationId: "getDeployment",
  tags: ["Deployments"],
  summary: "Read a deployment",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  resource: true,
  request: { params: DeploymentParams },
  responses: { 200: json(Deployment, "The deployment.") },
  notFound: ["deployment"],
});

const listOfEnvironment = apiRoute({
  method: "get",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "listEnvironmentDeployments",
  tags: ["Deployments"],
  summary: "List the deployments of an environment",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  polled: true,
  request: { params: EnvironmentParams, query: DeploymentQuery },
  responses: { 200: json(DeploymentList, "A page of deployments.") },
  notFound: ["environment"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "createDeployment",
  tags: ["Deployments"],
  summary: "Deploy an environment",
  description:
    `${DEPLOYABLE} The patch is applied to a copy of the environment's ` +
    "configuration. The copy becomes the environment's configuration when the deployment succeeds. " +
    "If the configuration changes before a runner starts the deployment, the start applies the " +
    "patch to the new one and updates `data.patch`. If the patch no longer applies, the deployment " +
    "fails with the reason `patch_conflict`. A patch that makes a setting of a built-in executor wrong " +
    "is `bad_input`.",
  access: { scope: "deployments:write", role: "contributor" },
  resource: true,
  changes: ["deployments"],
  request: { params: EnvironmentParams, body: jsonBody(CreateDeployment) },
  responses: { 201: json(Deployment, "The deployment, queued.") },
  notFound: ["environment", "stack in the environment"],
  errors: {
    patch_test_failed: new BadInput([
      { path: "patch.0", message: '"/replicas" does not have the value of the test.' },
    ]),
    needs_commit: needsCommit("site"),
    project_disconnected: DISCONNECTED,
    no_stacks: NO_STACKS,
    deployment_limit: new LimitReached(LIMITS.unfinishedDeployments.value, ACTIVE_OF_ENVIRONMENT),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const cancel = apiRoute({
  method: "patch",
  path: "/v1/deployments/{deployment_id}/cancel",
  operationId: "cancelDeployment",
  tags: ["Deployments"],
  summary: "Cancel a deployment",
  description:
    `A deployment that has not started is \`canceled\` immediately; a running ` +
    `one is \`canceling\`, for at most ${durationOf(CANCEL_TIMEOUT_MS)}. One that has ended otherwise is a \`conflict\`.`,
  access: { scope: "deployments:write", role: "contributor" },
  exemptFromBudget: true,
  resource: true,
  request: { params: DeploymentParams },
  responses: { 200: json(Deployment, "The deployment.") },
  notFound: ["deployment"],
  errors: {
    deployment_ended: new Conflict("The deployment has ended: it is succeeded."),
  },
});

const redeployment = apiRoute({
  method: "post",
  path: "/v1/deployments/{deployment_id}/redeploy",
  operationId: "redeployDeployment",
  tags: ["Deployments"],
  summary: "Deploy again, or roll back",
  description:
    `${DEPLOYABLE} Creates a deployment of the configuration and source of ` +
    "this one. Later changes to the environment's configuration do not affect it.",
  access: { scope: "deployments:write", role: "contributor" },
  resource: true,
  changes: ["deployments"],
  request: { params: DeploymentParams },
  responses: { 201: json(Deployment, "The new deployment, queued.") },
  notFound: ["deployment"],
  errors: {
    project_disconnected: DISCONNECTED,
    no_stacks: NO_STACKS,
    configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
  },
});

const promotion = apiRoute({
  method: "post",
  path: "/v1/deployments/{deployment_id}/promote",
  operationId: "promoteDeployment",
  tags: ["Deployments"],
  summary: "Promote a deployment to another environment",
  description:
    `${DEPLOYABLE} Creates a deployment of stacks of the other ` +
    "environment, to the configuration and source of this one, which must have succeeded.",
  access: { scope: "deployments:write", role: "contributor" },
  resource: true,
  changes: ["deployments"],
  request: { params: DeploymentParams, body: jsonBody(PromoteDeployment) },
  responses: { 201: json(Deployment, "The new deployment, queued.") },
  notFound: ["deployment", "environment", "environment in the project", "stack in the environment"],
  errors: {
    needs_commit: needsCommit("site"),
    project_disconnected: DISCONNECTED,
    no_stacks: NO_STACKS,
    not_succeeded: new Conflict(
      "Only a deployment that has succeeded can be promoted: this one is failed.",
    ),
    configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
  },
});

export const deploymentRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) => listDeployments(ctx, toDeploymentPage(c.req.valid("query"))),
      presentDeployment,
    ),
  )
  .openapi(listOfEnvironment, (c) =>
    page(
      c,
      (ctx) =>
        listDeploymentsOfEnvironment(
          ctx,
          c.req.valid("param").environment_id,
          toDeploymentPage(c.req.valid("query")),
        ),
      presentDeployment,
    ),
  )
  .openapi(get, (c) =>
    ok(c, (ctx) => getDeployment(ctx, c.req.valid("param").deployment_id), presentDeployment),
  )
  .openapi(create, (c) =>
    created(
      c,
      get.path,
      (ctx) =>
        createDeployment(ctx, c.req.valid("param").environment_id, toInput(c.req.valid("json"))),
      presentDeployment,
    ),
  )
  .openapi(cancel, (c) =>
    ok(c, (ctx) => cancelDeployment(ctx, c.req.valid("param").deployment_id), presentDeployment),
  )
  .openapi(redeployment, (c) =>
    created(
      c,
      get.path,
      (ctx) => redeploy(ctx, c.req.valid("param").deployment_id),
      presentDeployment,
    ),
  )
  .openapi(promotion, (c) =>
    created(
      c,
      get.path,
      (ctx) => promote(ctx, c.req.valid("param").deployment_id, toPromotion(c.req.valid("json"))),
      presentDeployment,
    ),
  );
