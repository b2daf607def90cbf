import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import { promote, redeploy } from "./copy-service.ts";
import { createDeployment } from "./creation-service.ts";
import type { Documented } from "./document.ts";
import { presentDeployment } from "./presenters.ts";
import {
  CreateDeployment,
  DeploymentParams,
  DeploymentQuery,
  PromoteDeployment,
} from "./schemas.ts";
import { cancelDeployment, getDeployment, listDeployments } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/deployments",
  operationId: "listDeployments",
  polled: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ query: DeploymentQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}",
  operationId: "getDeployment",
  record: true,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/environments/{environment_id}/deployments",
  operationId: "createDeployment",
  status: 201,
  record: true,
  scope: "deployments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(CreateDeployment()) }),
});

const cancel = operation({
  method: "patch",
  path: "/v1/deployments/{deployment_id}/cancel",
  operationId: "cancelDeployment",
  record: true,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams() }),
});

const redeployment = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/redeploy",
  operationId: "redeployDeployment",
  status: 201,
  record: true,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams() }),
});

const promotion = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/promote",
  operationId: "promoteDeployment",
  status: 201,
  record: true,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams(), body: jsonBody(PromoteDeployment()) }),
});

export const deploymentRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    return c.json(toEnvelope(await listDeployments(c.env, page), presentDeployment), 200);
  })
  .openapi(get, async (c) => {
    const deployment = await getDeployment(c.env, c.req.valid("param").deployment_id);
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 200);
  })
  .openapi(create, async (c) => {
    const { environment_id } = c.req.valid("param");
    const input = toInput(c.req.valid("json"));
    const deployment = await once(c.env, createDeployment, environment_id, input);
    setLocation(c, get, { deployment_id: deployment.id });
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 201);
  })
  .openapi(cancel, async (c) => {
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, cancelDeployment, deployment_id);
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 200);
  })
  .openapi(redeployment, async (c) => {
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, redeploy, deployment_id);
    setLocation(c, get, { deployment_id: deployment.id });
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 201);
  })
  .openapi(promotion, async (c) => {
    const { environment_id } = c.req.valid("json");
    const { deployment_id } = c.req.valid("param");
    const deployment = await once(c.env, promote, deployment_id, environment_id);
    setLocation(c, get, { deployment_id: deployment.id });
    return jsonWithTag(c, deployment.recordVersion, presentDeployment(deployment), 201);
  });

function toInput({ patch = [], queue = "supersede", ...rest }: Output<typeof CreateDeployment>) {
  return { patch, queue, source: rest.source, stackIds: rest.stack_ids, reason: rest.reason };
}
