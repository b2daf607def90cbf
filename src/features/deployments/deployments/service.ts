import { authorize, readsEverything, requireScope } from "../../../actor.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import { Conflict, NotFound } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { takeTurns } from "../../../turns.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { findEnvironment } from "../../projects/environments/index.ts";
import { findStack } from "../../projects/stacks/index.ts";
import { contentOf } from "./content.ts";
import { completeFacts, sweepDigests } from "./digest-service.ts";
import { sweepHeld } from "./evaluation-service.ts";
import type { DeploymentPage } from "./lists.ts";
import * as lists from "./lists.ts";
import { type Document, documentBefore, type Operation, patchBetween } from "./patch.ts";
import { findPending } from "./pending-store.ts";
import { type ConfigurationChange, factsOf, presentDeployment } from "./presenters.ts";
import type { DeploymentRow, FoundDeployment } from "./store.ts";
import * as store from "./store.ts";
import {
  cancelDeployment as cancel,
  cancelOfDisconnecting,
  statusesOfCancel,
} from "./transitions/cancel.ts";
import { expire } from "./transitions/expire.ts";
import { finalize } from "./transitions/finalize.ts";

export async function listDeployments(
  ctx: ServiceContext,
  page: DeploymentPage,
): Promise<Page<DeploymentRow>> {
  const { db, actor } = ctx;
  const found = readsEverything(actor)
    ? await lists.listOfOrganization(db, actor.organizationId, page)
    : await lists.listOfProjects(db, actor, page);
  return toPage(page, found, (row) => row);
}

export async function listDeploymentsOfEnvironment(
  ctx: ServiceContext,
  environmentId: string,
  page: DeploymentPage,
): Promise<Page<DeploymentRow>> {
  const { db, actor } = ctx;
  const { environments, found } = await batch(db, {
    environments: findEnvironment(db, actor, environmentId),
    found: lists.listOfEnvironment(db, actor.organizationId, environmentId, page),
  });
  authorize(actor, "environment", environments[0], "viewer");
  return toPage(page, found, (row) => row);
}

export async function listDeploymentsOfStack(
  ctx: ServiceContext,
  stackId: string,
  page: DeploymentPage,
): Promise<Page<DeploymentRow>> {
  const { db, actor } = ctx;
  const { stacks, found } = await batch(db, {
    stacks: findStack(db, actor, stackId),
    found: lists.listOfStack(db, actor.organizationId, stackId, page),
  });
  authorize(actor, "stack", stacks[0], "viewer");
  return toPage(page, found, (row) => row);
}

export async function getDeployment(
  ctx: ServiceContext,
  id: string,
  environmentId?: string,
): Promise<DeploymentRow> {
  const found = await requireDeployment(ctx, id, "viewer", environmentId);
  const facts = factsOf(found);
  return facts ? { ...found, completedFacts: await completeFacts(ctx.db, found, facts) } : found;
}

/**
 * What a deployment makes of the configuration, as far as both are stored. Of one that waits for approvals, what it
 * would make of the present one.
 */
export async function compareConfigurations(
  ctx: ServiceContext,
  id: string,
): Promise<ConfigurationChange> {
  const { db, actor } = ctx;
  requireScope(actor, "environments:read");
  const { organizationId } = actor;
  const { found, contents, pending } = await batch(db, {
    found: store.findDeployment(ctx, id),
    contents: store.findContent(db, organizationId, id),
    pending: findPending(db, organizationId, id),
  });
  const [content] = contents;
  const deployment = authorize(actor, "deployment", found[0], "viewer");
  const [waiting] = pending;
  const resulting = waiting && waiting.facts !== null ? await contentOf(waiting) : undefined;
  if (waiting && resulting) {
    const before = JSON.parse(waiting.currentConfiguration) as Document;
    const { configuration: after, digest } = resulting;
    return { before, after, diff: patchBetween(before, after), digest };
  }
  if (!content?.configuration) return {};
  const after = JSON.parse(content.configuration) as Document;
  const before = documentBefore(after, JSON.parse(deployment.patch) as Operation[]);
  return before ? { before, after, diff: patchBetween(before, after) } : { after };
}

/**
 * Asks the runner of a deployment in progress to cancel. Idempotent. Throws `Conflict` if the
 * deployment has ended with another status. A concurrent cancellation is a success, also with
 * `If-Match` (RFC 9110, 13.1.1: the change appears to have been applied).
 */
export async function cancelDeployment(ctx: ServiceContext, id: string): Promise<DeploymentRow> {
  const { db } = ctx;
  const before = await requireDeployment(ctx, id, "contributor");
  await requireExpectedVersion(ctx, before.version, () => presentDeployment(before, ctx));
  const { organizationId, environmentId, projectId } = before;
  const now = ctx.clock.now();
  const { reads } = await writeBatch(ctx, {
    guarded: cancel(ctx, id, now),
    changes: [{ projectId, action: "canceled", record: { type: "deployment", id } }],
    written: statusesOfCancel(id),
    effects: { finalized: finalize(ctx, { environment: environmentId }, now) },
    entry: {
      row: store.selectDeployment(db, organizationId, id, now),
      json: store.JSON_TEXTS,
      condition: store.whereCanceled(organizationId, id),
    },
    reads: { deployment: store.findDeployment(ctx, id) },
  });
  const [deployment] = reads.deployment;
  if (!deployment) throw new NotFound("deployment");
  const { status } = deployment;
  if (status === "canceling" || status === "canceled") return deployment;
  await requireExpectedVersion(ctx, deployment.version, () => presentDeployment(deployment, ctx));
  throw new Conflict(`The deployment has ended: it is ${status}.`);
}

/** The schedule calls this each minute. What ends does not wait for what is evaluated. */
export async function sweepDeployments(ctx: SystemContext): Promise<void> {
  await endOverdue(ctx);
  await sweepDigests(ctx);
  await sweepHeld(ctx);
}

/** All at once, which reads least; if that fails, each organization for itself. */
async function endOverdue(ctx: SystemContext): Promise<void> {
  let left: number = LIMITS.sweepFinalizations.value;
  const endOf = async (own: SystemContext, filter: { organization: string } | "everything") => {
    left -= 1;
    return left >= 0 && (await endSome(own, filter)) > 0;
  };
  try {
    while (await endOf(ctx, "everything"));
  } catch (error) {
    ctx.log("error", "deployments.not_ended", describeError(error));
    const organizationIds = await store.listUnfinishedOrganizations(ctx.db);
    left = Math.max(left, 0) + organizationIds.length;
    await takeTurns(ctx, organizationIds, (own, organization) => endOf(own, { organization }));
  }
}

/** Returns how many have another status. */
async function endSome(
  ctx: SystemContext,
  filter: { organization: string } | "everything",
): Promise<number> {
  const now = ctx.clock.now();
  const { finalized } = await batch(ctx.db, {
    canceled: cancelOfDisconnecting(ctx.db, now, filter),
    expired: expire(ctx.db, filter, now),
    finalized: finalize(ctx, filter, now),
  });
  return finalized.notified.length;
}

async function requireDeployment(
  ctx: ServiceContext,
  id: string,
  role: ProjectRole,
  environmentId?: string,
): Promise<FoundDeployment> {
  const [found] = await store.findDeployment(ctx, id, environmentId);
  return authorize(ctx.actor, "deployment", found, role);
}
