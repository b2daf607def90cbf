import type { ServiceContext } from "../../context.ts";
import { Conflict } from "../../lib/errors.ts";
import { cancelUnfinished, settle } from "../deployments/index.ts";
import { commit } from "../events/index.ts";
import { type ProjectRow, requireProject } from "../projects/index.ts";
import type { NewConnection } from "./store.ts";
import * as store from "./store.ts";

export type Connection = Pick<
  NewConnection,
  "provider" | "accountId" | "region" | "roleArn" | "externalId"
>;

/**
 * Connects a project to a cloud provider, in place of what it was connected to; takes an owner.
 * Throws `Conflict` while it is disconnecting.
 */
export async function connectProject(
  ctx: ServiceContext,
  id: string,
  connection: Connection,
): Promise<ProjectRow> {
  const { organizationId } = await requireProject(ctx, id, "owner");
  const now = ctx.clock.now();
  const row = { projectId: id, organizationId, ...connection, createdAt: now, updatedAt: now };
  const [[project]] = await ctx.db.batch(store.connectProject(ctx.db, row));
  if (project) return project;
  throw new Conflict("The project is disconnecting. Wait until its deployments have ended.");
}

/**
 * Idempotent. What has not started is canceled, what runs is asked to cancel; the project is
 * disconnected as soon as nothing is unfinished, in the batch that ends the last deployment.
 */
export async function disconnectProject(ctx: ServiceContext, id: string): Promise<void> {
  const { organizationId } = await requireProject(ctx, id, "owner");
  const now = ctx.clock.now();
  await commit(ctx, [
    ...store.beginDisconnecting(ctx.db, organizationId, id, now),
    cancelUnfinished(ctx.db, { project: id }, now),
    ...settle(ctx, { project: id }, now),
  ]);
}
