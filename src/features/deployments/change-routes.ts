import { operation } from "../../http/operation.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { previewPromotion, previewRedeployment } from "./copy-service.ts";
import { presentPreview } from "./presenters.ts";
import {
  ConfigurationChange,
  DeploymentOfEnvironmentParams,
  DeploymentParams,
  DeploymentPreview,
} from "./schemas.ts";
import { compareConfigurations } from "./service.ts";

const NEEDS_ENVIRONMENTS = "Needs the scope `environments:read`, too.";
const LACKS_ENVIRONMENTS = {
  lacks_environments: Unauthorized.scope("environments:read"),
};

const PREVIEW =
  `${NEEDS_ENVIRONMENTS} ` +
  "Changes nothing. `error` is what the request itself would return now: a `conflict`, or that the key " +
  "or the role may not make it.";

const configuration = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/configuration",
  operationId: "getDeploymentConfiguration",
  tags: ["Deployments"],
  summary: "Read the configuration before and after a deployment",
  role: "viewer",
  scope: "deployments:read",
  description: `${NEEDS_ENVIRONMENTS} An environment keeps the configurations of its newest ${LIMITS.redeployableDeployments.value} deployments.`,
  policy: "polling",
  notFound: ["deployment"],
  errors: LACKS_ENVIRONMENTS,
  request: { params: DeploymentParams() },
  responses: { 200: jsonReply(ConfigurationChange(), "The configurations, and their difference.") },
});

const redeployment = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/redeployment",
  operationId: "previewRedeployment",
  tags: ["Deployments"],
  summary: "Preview a redeploy",
  role: "viewer",
  scope: "deployments:read",
  description: PREVIEW,
  policy: "polling",
  notFound: ["deployment"],
  errors: LACKS_ENVIRONMENTS,
  request: { params: DeploymentParams() },
  responses: { 200: jsonReply(DeploymentPreview(), "What the redeploy would do.") },
});

const promotion = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/promotion/{environment_id}",
  operationId: "previewPromotion",
  tags: ["Deployments"],
  summary: "Preview a promotion to another environment",
  role: "viewer",
  scope: "deployments:read",
  description: PREVIEW,
  policy: "polling",
  notFound: ["deployment", "environment", "environment in the project"],
  errors: LACKS_ENVIRONMENTS,
  request: { params: DeploymentOfEnvironmentParams() },
  responses: { 200: jsonReply(DeploymentPreview(), "What the promotion would do.") },
});

/** What deployments change. */
export const changeRoutes = createRouter()
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
