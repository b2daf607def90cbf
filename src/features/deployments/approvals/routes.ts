import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { DeploymentParams, OverrideDeployment, presentDeployment } from "../deployments/index.ts";
import type { Documented } from "./document.ts";
import { overrideDeployment } from "./override-service.ts";
import { listPendingApprovals } from "./pending-service.ts";
import { presentApproval, presentPendingApproval } from "./presenters.ts";
import { CreateApproval, PendingApprovalQuery } from "./schemas.ts";
import { createApproval, listApprovals } from "./service.ts";

const PATH = "/v1/deployments/{deployment_id}/approvals";

const listPending = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/approvals",
  operationId: "listPendingApprovals",
  polled: true,
  presentEach: presentPendingApproval,
  scope: "deployments:read",
  policy: "polling",
  request: () => ({ params: OrganizationParams(), query: PendingApprovalQuery() }),
});

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
  .handle(listPending, async ({ ctx, params, query }) => ({
    rows: await listPendingApprovals(ctx, params.org_id, query.deployment_id),
    next: undefined,
  }))
  .handle(list, async ({ ctx, params }) => ({
    rows: await listApprovals(ctx, params.deployment_id),
    next: undefined,
  }))
  .handle(create, ({ ctx, params, body: { decision, comment, digest } }) =>
    createApproval(ctx, params.deployment_id, { decision, comment, digest }),
  )
  .handle(override, ({ ctx, params, body }) => overrideDeployment(ctx, params.deployment_id, body));
