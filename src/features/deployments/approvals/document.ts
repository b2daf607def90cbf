import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { Deployment } from "../deployments/responses.ts";
import { CHANGING, NO_APPROVALS, ONLY_OWNERS, OTHER_CONTENT, PATCH_CONFLICT } from "./model.ts";
import { Approval, ApprovalList, PendingApprovalList } from "./responses.ts";

const operations = {
  listPendingApprovals: {
    tags: ["Deployments"],
    summary: "List the deployments that wait for your approval",
    description:
      `Of all projects, the newest first, on one page: of the newest ${LIMITS.searchedRows.value} that wait for ` +
      `something, those among the newest ${LIMITS.pendingApprovals.value} that wait where a rule asks for approvals, that you may approve, and ` +
      "that you have not approved as they are now. Empty for programs and keys with scopes, which approve nothing.",
    notFound: ["organization"],
    responses: { 200: jsonReply(PendingApprovalList(), "The deployments.") },
  },
  listApprovals: {
    tags: ["Deployments"],
    summary: "List the approvals and rejections of a deployment",
    role: "viewer",
    description: "All are on one page, the newest first. Of each person, only the newest is kept.",
    notFound: ["deployment"],
    responses: { 200: jsonReply(ApprovalList(), "The decisions.") },
  },
  createApproval: {
    tags: ["Deployments"],
    summary: "Approve or reject a deployment",
    role: "viewer",
    description:
      "For whom a rule of the environment names, with a credential of their own that is not narrowed: programs " +
      "approve nothing. An approval counts for one content, and as long as the person may approve: the start decides " +
      "it again. A rejection ends the deployment `canceled`, with the reason `rejected`.",
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
    responses: { 201: jsonReply(Approval(), "The decision.") },
  },
  overrideDeployment: {
    tags: ["Deployments"],
    summary: "Start a deployment in spite of rules",
    role: "viewer",
    description:
      "For owners of the organization, with all that they may do; for `freeze`, also for the members that each freeze names. " +
      "Holds for the content that it has now, and is shown on the deployment for good.",
    notFound: ["deployment"],
    errors: {
      only_owners: new Unauthorized(ONLY_OWNERS),
      override_changing: CHANGING,
    },
    responses: { 200: jsonReply(Deployment(), "The deployment.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
