import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createdHere, json, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { presentDeployment } from "../deployments/index.ts";
import { Deployment, DeploymentParams, OverrideDeployment } from "../deployments/schemas.ts";
import { CHANGING, NO_APPROVALS, ONLY_OWNERS, OTHER_CONTENT, PATCH_CONFLICT } from "./model.ts";
import { overrideDeployment } from "./override-service.ts";
import { listPendingApprovals } from "./pending-service.ts";
import { presentApproval, presentPendingApproval } from "./presenters.ts";
import {
  Approval,
  ApprovalList,
  CreateApproval,
  PendingApprovalList,
  PendingApprovalQuery,
} from "./schemas.ts";
import { createApproval, listApprovals } from "./service.ts";

const PATH = "/v1/deployments/{deployment_id}/approvals";

const listPending = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/approvals",
  operationId: "listPendingApprovals",
  tags: ["Deployments"],
  summary: "List the deployments that wait for your approval",
  description:
    `Of all projects, the newest first, on one page: of the newest ${LIMITS.searchedRows.value} that wait for ` +
    `something, those among the newest ${LIMITS.pendingApprovals.value} that wait where a rule asks for approvals, that you may approve, and ` +
    "that you have not approved as they are now. Empty for programs and keys with scopes, which approve nothing.",
  access: { scope: "deployments:read" },
  policy: "polling",
  polled: true,
  request: { params: OrganizationParams, query: PendingApprovalQuery },
  responses: { 200: json(PendingApprovalList, "The deployments.") },
  notFound: ["organization"],
});

const list = apiRoute({
  method: "get",
  path: PATH,
  operationId: "listApprovals",
  tags: ["Deployments"],
  summary: "List the approvals and rejections of a deployment",
  description: "All are on one page, the newest first. Of each person, only the newest is kept.",
  access: { scope: "deployments:read", role: "viewer" },
  policy: "polling",
  request: { params: DeploymentParams },
  responses: { 200: json(ApprovalList, "The decisions.") },
  notFound: ["deployment"],
});

const create = apiRoute({
  method: "post",
  path: PATH,
  operationId: "createApproval",
  tags: ["Deployments"],
  summary: "Approve or reject a deployment",
  description:
    "For whom a rule of the environment names, with a credential of their own that is not narrowed: programs " +
    "approve nothing. An approval counts for one content, and as long as the person may approve: the start decides " +
    "it again. A rejection ends the deployment `canceled`, with the reason `rejected`.",
  access: { scope: "deployments:write", role: "viewer" },
  request: { params: DeploymentParams, body: jsonBody(CreateApproval) },
  responses: { 201: json(Approval, "The decision.") },
  notFound: ["deployment"],
  errors: {
    no_approvals: NO_APPROVALS,
    other_content: OTHER_CONTENT,
    approved_patch_conflict: PATCH_CONFLICT,
    deployment_changing: CHANGING,
    approval_limit: new LimitReached(
      LIMITS.approvalsOfDeployment.value,
      "approvals of a deployment",
    ),
  },
});

const override = apiRoute({
  method: "post",
  path: "/v1/deployments/{deployment_id}/override",
  operationId: "overrideDeployment",
  tags: ["Deployments"],
  summary: "Start a deployment in spite of rules",
  description:
    "For owners of the organization, with all that they may do; for `freeze`, also for the members that each freeze names. " +
    "Holds for the content that it has now, and is shown on the deployment for good.",
  access: { scope: "deployments:write", role: "viewer" },
  request: { params: DeploymentParams, body: jsonBody(OverrideDeployment) },
  responses: { 200: json(Deployment, "The deployment.") },
  notFound: ["deployment"],
  errors: {
    only_owners: new Unauthorized(ONLY_OWNERS),
    override_changing: CHANGING,
  },
});

export const approvalRoutes = createRouter()
  .openapi(listPending, (c) =>
    page(
      c,
      async (ctx) => ({
        rows: await listPendingApprovals(
          ctx,
          c.req.valid("param").org_id,
          c.req.valid("query").deployment_id,
        ),
        next: undefined,
      }),
      presentPendingApproval,
    ),
  )
  .openapi(list, (c) =>
    page(
      c,
      async (ctx) => ({
        rows: await listApprovals(ctx, c.req.valid("param").deployment_id),
        next: undefined,
      }),
      presentApproval,
    ),
  )
  .openapi(create, (c) => {
    const { decision, comment, digest } = c.req.valid("json");
    return createdHere(
      c,
      (ctx) =>
        createApproval(ctx, c.req.valid("param").deployment_id, { decision, comment, digest }),
      presentApproval,
    );
  })
  .openapi(override, (c) =>
    ok(
      c,
      (ctx) => overrideDeployment(ctx, c.req.valid("param").deployment_id, c.req.valid("json")),
      presentDeployment,
    ),
  );
