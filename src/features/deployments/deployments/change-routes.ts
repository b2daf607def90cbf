import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { ConfigurationChange } from "./patch-schemas.ts";
import { presentPreview } from "./presenters.ts";
import { DeploymentPreview } from "./preview-schemas.ts";
import { previewDeployment, previewPromotion, previewRedeployment } from "./preview-service.ts";
import {
  CreateDeployment,
  DeploymentOfEnvironmentParams,
  DeploymentParams,
  PromotionQuery,
  toInput,
} from "./schemas.ts";
import { compareConfigurations } from "./service.ts";

const NEEDS_ENVIRONMENTS = "Needs the scope `environments:read`, too.";

const LACKS_ENVIRONMENTS = {
  lacks_environments: Unauthorized.scope("environments:read"),
};

const PREVIEW =
  `${NEEDS_ENVIRONMENTS} ` +
  "Changes nothing. `error` is what the request itself would return now: a `conflict`, or that the key " +
  "or the role may not make it. `waiting_for` is what it would wait for if you made it, also a runner if none is " +
  "online.";

const configuration = apiRoute({
  method: "get",
  path: "/v1/deployments/{deployment_id}/configuration",
  operationId: "getDeploymentConfiguration",
  tags: ["Deployments"],
  summary: "Read the configuration before and after a deployment",
  description: `${NEEDS_ENVIRONMENTS} An environment keeps the configurations of its newest ${LIMITS.redeployableDeployments.value} deployments.`,
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  request: { params: DeploymentParams },
  responses: {
    200: json(ConfigurationChange, "The configurations, and their difference."),
  },
  notFound: ["deployment"],
  errors: LACKS_ENVIRONMENTS,
});

const deployment = apiRoute({
  method: "post",
  path: "/v1/environments/{environment_id}/deployment-preview",
  operationId: "previewDeployment",
  tags: ["Deployments"],
  summary: "Preview a deployment",
  description: PREVIEW,
  access: { scope: "deployments:write", role: "contributor" },
  request: { params: EnvironmentParams, body: jsonBody(CreateDeployment) },
  responses: { 200: json(DeploymentPreview, "What the deployment would do.") },
  notFound: ["environment", "stack in the environment"],
  errors: LACKS_ENVIRONMENTS,
});

const redeployment = apiRoute({
  method: "get",
  path: "/v1/deployments/{deployment_id}/redeployment",
  operationId: "previewRedeployment",
  tags: ["Deployments"],
  summary: "Preview a redeploy",
  description: `${PREVIEW} A redeploy has the variables of its start: \`changed_variables\` names those that have changed since the deployment.`,
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  request: { params: DeploymentParams },
  responses: { 200: json(DeploymentPreview, "What the redeploy would do.") },
  notFound: ["deployment"],
  errors: LACKS_ENVIRONMENTS,
});

const promotion = apiRoute({
  method: "get",
  path: "/v1/deployments/{deployment_id}/promotion/{environment_id}",
  operationId: "previewPromotion",
  tags: ["Deployments"],
  summary: "Preview a promotion to another environment",
  description: PREVIEW,
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  request: { params: DeploymentOfEnvironmentParams, query: PromotionQuery },
  responses: { 200: json(DeploymentPreview, "What the promotion would do.") },
  notFound: ["deployment", "environment", "environment in the project", "stack in the environment"],
  errors: LACKS_ENVIRONMENTS,
});

/** What deployments change. */
export const changeRoutes = createRouter()
  .openapi(configuration, (c) =>
    ok(
      c,
      (ctx) => compareConfigurations(ctx, c.req.valid("param").deployment_id),
      (change) => change,
    ),
  )
  .openapi(deployment, (c) =>
    ok(
      c,
      (ctx) =>
        previewDeployment(ctx, c.req.valid("param").environment_id, toInput(c.req.valid("json"))),
      presentPreview,
    ),
  )
  .openapi(redeployment, (c) =>
    ok(c, (ctx) => previewRedeployment(ctx, c.req.valid("param").deployment_id), presentPreview),
  )
  .openapi(promotion, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) =>
        previewPromotion(ctx, params.deployment_id, {
          environmentId: params.environment_id,
          stackIds: c.req.valid("query").stack_ids,
        }),
      presentPreview,
    );
  });
