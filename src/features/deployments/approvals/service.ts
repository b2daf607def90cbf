import { authorize, hasBoundaries } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { ApiError, Conflict, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { approverVerifier } from "../../../lib/settings.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { refuseEscalation } from "../../housekeeping/audit/index.ts";
import { nameMembers } from "../../projects/access/index.ts";
import type { ApprovalRule } from "../../projects/access/model.ts";
import { type ApprovalDecision, type Facts, isApprover, isKnown } from "../conditions/index.ts";
import {
  contentOf,
  evaluateQueued,
  type FoundDeployment,
  finalize,
  findDeployment,
  findPending,
  type ResultingContent,
  rejectDeployment,
} from "../deployments/index.ts";
import {
  CHANGING,
  NEEDS_PERSON,
  NO_APPROVALS,
  NOT_QUEUED,
  NOT_VERIFIED,
  OTHER_CONTENT,
  PATCH_CONFLICT,
} from "./model.ts";
import type { ApprovalRow, NewApproval } from "./store.ts";
import * as store from "./store.ts";
import { writeApprovalEvent } from "./write-events.ts";

const MAXIMUM_TRIES = 5;

export interface ApprovalInput {
  decision: ApprovalDecision;
  comment: string | undefined;
  /** Of the content that the person has read. Undefined: what would start now. */
  digest: string | undefined;
}

export async function listApprovals(
  ctx: ServiceContext,
  deploymentId: string,
): Promise<ApprovalRow[]> {
  const { found, rows } = await batch(ctx.db, {
    found: findDeployment(ctx, deploymentId),
    rows: store.listApprovals(ctx.db, ctx.actor.organizationId, deploymentId),
  });
  authorize(ctx.actor, "deployment", found[0], "viewer");
  return rows;
}

/** Throws `Conflict` if the deployment has started, needs no approvals, or would start another content. */
export async function createApproval(
  ctx: ServiceContext,
  deploymentId: string,
  input: ApprovalInput,
): Promise<ApprovalRow> {
  for (let tries = 0; tries < MAXIMUM_TRIES; tries += 1) {
    const { deployment, facts, content } = await requireApprover(ctx, deploymentId, input);
    const approval = newApproval(ctx, deployment, input, content);
    const created = await writeApproval(ctx, deployment, approval, facts);
    if (created) return created;
  }
  throw CHANGING;
}

async function requireApprover(ctx: ServiceContext, deploymentId: string, input: ApprovalInput) {
  const { db, actor } = ctx;
  const { found, pending, approver } = await batch(db, {
    found: findDeployment(ctx, deploymentId),
    pending: findPending(db, actor.organizationId, deploymentId),
    approver: store.findApprover(db, actor, deploymentId),
  });
  const deployment = authorize(actor, "deployment", found[0], "viewer");
  await requirePerson(ctx, deployment);
  const [row] = pending;
  if (!row) throw new Conflict(`${NOT_QUEUED}: it is ${deployment.status}.`);
  const facts = row.facts === null ? undefined : (JSON.parse(row.facts) as Facts);
  const rules = facts?.rules.flatMap((each) => each?.approvals ?? []) ?? [];
  if (!facts || rules.length === 0) throw NO_APPROVALS;
  await requireOneOf(ctx, deployment, rules, facts);
  const verifier = approverVerifier(ctx.settings);
  if (!isKnown(approver[0] ?? { isVerified: 0 }, verifier)) throw NOT_VERIFIED;
  const content = await contentOf(row);
  if (!content && input.decision === "approve") throw PATCH_CONFLICT;
  if (input.digest !== undefined && input.digest !== content?.digest) throw OTHER_CONTENT;
  return { deployment, facts: row.facts ?? "", content };
}

/** With a credential of their own that is not narrowed. A program has none. */
async function requirePerson(ctx: ServiceContext, { id }: FoundDeployment): Promise<void> {
  const { actor } = ctx;
  if (actor.isOwnKey && actor.scopes === null && !hasBoundaries(actor)) return;
  await refuseEscalation(ctx, { type: "deployment", id }, NEEDS_PERSON);
}

async function requireOneOf(
  ctx: ServiceContext,
  { memberRole }: FoundDeployment,
  rules: readonly ApprovalRule[],
  { creators }: Facts,
): Promise<void> {
  const { membershipId, role: orgRole } = ctx.actor;
  const member = { membershipId, orgRole, projectRole: memberRole };
  if (rules.some((rule) => isApprover(member, rule, creators))) return;
  const names = await Promise.all(rules.map(({ approvers }) => nameMembers(ctx, approvers)));
  const isOwn = rules.some((rule) => isApprover(member, rule, []));
  const others = isOwn ? ", and never of one's own deployment" : "";
  const message = `Only ${[...new Set(names)].join(", or ")} may approve or reject it${others}.`;
  throw new ApiError("forbidden", message);
}

function newApproval(
  ctx: ServiceContext,
  { id: deploymentId, environmentId, organizationId }: FoundDeployment,
  { decision, comment }: ApprovalInput,
  content: ResultingContent | undefined,
): NewApproval {
  return {
    id: newId(ctx.clock),
    organizationId,
    environmentId,
    deploymentId,
    membershipId: ctx.actor.membershipId,
    decision,
    comment: comment ?? null,
    configurationDigest: content?.configurationDigest ?? null,
    digest: content?.digest ?? "",
    basis: content?.basis ?? "",
    content: "",
    createdAt: ctx.clock.now(),
  };
}

async function writeApproval(
  ctx: ServiceContext,
  { projectId }: FoundDeployment,
  approval: NewApproval,
  facts: string,
): Promise<ApprovalRow | undefined> {
  const { organizationId, deploymentId, decision, comment, digest } = approval;
  const isRejection = decision === "reject";
  const record = { type: "deployment", id: deploymentId } as const;
  const action = isRejection ? "deployment.rejected" : "deployment.approved";
  const after = { ...(comment !== null && { comment }), digest };
  const { guarded, reads } = await writeBatch(ctx, {
    growth: {
      organizationId,
      bytes: bytesOf(comment, approval.basis),
      bounds: [store.approvalCountBound(approval)],
    },
    guarded: store.insertApproval(ctx.db, approval, facts),
    acts: [{ action, target: record, projectId, changes: { after } }],
    ...(isRejection && { changes: [{ projectId, action: "canceled" as const, record }] }),
    effects: {
      ended: isRejection ? endRejected(ctx, approval) : undefined,
      notified: writeApprovalEvent(ctx, approval),
    },
    entry: { row: store.findApproval(ctx.db, approval) },
    reads: { created: store.findApproval(ctx.db, approval) },
  });
  if (guarded.length === 0) return undefined;
  await evaluateQueued(ctx, { deployment: deploymentId });
  const [created] = reads.created;
  if (!created) throw new NotFound("deployment");
  return created;
}

function endRejected(ctx: ServiceContext, { id, deploymentId, comment }: NewApproval) {
  const now = ctx.clock.now();
  const message = comment === null ? "Rejected" : `Rejected: ${comment}`;
  return {
    rejected: rejectDeployment(ctx.db, { id: deploymentId, approvalId: id, message }, now),
    finalized: finalize(ctx, { deployment: deploymentId }, now),
  };
}
