import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { orgRoleReaches, type ProjectRole } from "../../lib/roles.ts";
import { recordChange } from "../changelog/index.ts";
import { findEnvironment } from "../environments/index.ts";
import { findStack } from "../stacks/index.ts";
import { cancelUnfinished, finalize } from "./finalize-store.ts";
import { listOfMember } from "./member-store.ts";
import type { DeploymentPage, DeploymentRow, ListedRow } from "./store.ts";
import * as store from "./store.ts";

/** The deployment, for an actor who has at least the role `needed` in its project. */
export async function requireDeployment(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
  environmentId?: string,
): Promise<DeploymentRow> {
  const [found] = await store.findDeployment(ctx.db, ctx.actor, id, environmentId);
  return authorize(ctx.actor, "deployment", found, needed);
}

/** The deployments that the actor may read: all for an admin, else those of their projects. */
export async function listDeployments(
  ctx: ServiceContext,
  page: DeploymentPage,
): Promise<Page<ListedRow>> {
  const { db, actor } = ctx;
  const found = orgRoleReaches(actor.role, "admin")
    ? await store.listOfOrganization(db, actor.organizationId, page)
    : await listOfMember(db, actor, page);
  return toPage(page, found, (row) => row);
}

/** The deployments of an environment; takes a viewer. */
export async function listDeploymentsOfEnvironment(
  ctx: ServiceContext,
  environmentId: string,
  page: DeploymentPage,
): Promise<Page<ListedRow>> {
  const { db, actor } = ctx;
  const [[environment], found] = await db.batch([
    findEnvironment(db, actor, environmentId),
    store.listOfEnvironment(db, actor.organizationId, environmentId, page),
  ]);
  authorize(actor, "environment", environment, "viewer");
  return toPage(page, found, (row) => row);
}

/** The deployments that a stack was part of; takes a viewer. */
export async function listDeploymentsOfStack(
  ctx: ServiceContext,
  stackId: string,
  page: DeploymentPage,
): Promise<Page<ListedRow>> {
  const { db, actor } = ctx;
  const list = store.statusesOf(page).length > 0 ? store.listOfStackByStatus : store.listOfStack;
  const [[stack], found] = await db.batch([
    findStack(db, actor, stackId),
    list(db, actor.organizationId, stackId, page),
  ]);
  authorize(actor, "stack", stack, "viewer");
  return toPage(page, found, (row) => row);
}

/** One deployment, if need be of this environment alone; takes a viewer. */
export async function getDeployment(
  ctx: ServiceContext,
  id: string,
  environmentId?: string,
): Promise<DeploymentRow> {
  return requireDeployment(ctx, id, "viewer", environmentId);
}

/**
 * Cancels what has not started, at once, and asks what runs to cancel; takes a contributor. Again,
 * it gives the same. Throws `Conflict` for a deployment that has ended otherwise.
 */
export async function cancelDeployment(ctx: ServiceContext, id: string): Promise<ListedRow> {
  const { db, actor } = ctx;
  const { environmentId, projectId } = await requireDeployment(ctx, id, "contributor");
  const now = ctx.clock.now();
  const results = await commit(ctx, {
    canceled: cancelUnfinished(db, { deployment: id }, now),
    changelog: recordChange(
      ctx,
      { projectId, action: "canceled", record: { type: "deployment", id } },
      store.statusesOfCancel(id),
    ),
    finalized: finalize(ctx, { environment: environmentId }, now),
    after: store.findDeployment(db, actor, id),
  });
  const [after] = results.after;
  if (!after) throw new NotFound("deployment");
  if (after.status === "canceling" || after.status === "canceled") return after;
  throw new Conflict(`The deployment has ended: it is ${after.status}.`);
}
