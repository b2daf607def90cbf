import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { DeploymentParams, OverrideDeployment, presentDeployment } from "../deployments/index.ts";
import type { Documented } from "./document.ts";
import { overrideDeployment } from "./override-service.ts";
import { presentApproval } from "./presenters.ts";
import { CreateApproval } from "./schemas.ts";
import { createApproval, listApprovals } from "./service.ts";

const PATH = "/v1/deployments/{deployment_id}/approvals";

const list = operation({
  method: "get",
  path: PATH,
  operationId: "listApprovals",
  presentEach: presentApproval,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: DeploymentParams() }),
});

const create = operation({
  method: "post",
  path: PATH,
  operationId: "createApproval",
  status: 201,
  present: presentApproval,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams(), body: jsonBody(CreateApproval()) }),
});

const override = operation({
  method: "post",
  path: "/v1/deployments/{deployment_id}/override",
  operationId: "overrideDeployment",
  present: presentDeployment,
  scope: "deployments:write",
  request: () => ({ params: DeploymentParams(), body: jsonBody(OverrideDeployment()) }),
});

export const approvalRoutes = createRouter<Documented>()
  .handle(list, async ({ ctx, params }) => ({
    rows: await listApprovals(ctx, params.deployment_id),
    next: undefined,
  }))
  .handle(create, ({ ctx, params, body: { decision, comment, digest } }) =>
    createApproval(ctx, params.deployment_id, { decision, comment, digest }),
  )
  .handle(override, ({ ctx, params, body }) => overrideDeployment(ctx, params.deployment_id, body));
