import { authorize, requireExpectedVersion, type ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { Conflict } from "../../../lib/errors.ts";
import { type Change, commitChange, recordChange } from "../../changelog/index.ts";
import { cancelDeployments, finalize } from "../../deployments/index.ts";
import { recordResult } from "../../idempotency/index.ts";
import { findProject, type ProjectRow, presentProject } from "../index.ts";
import { presentConnection } from "./presenters.ts";
import type { Connection, ConnectionRow } from "./store.ts";
import * as store from "./store.ts";

export async function connectProject(
  ctx: ServiceContext,
  id: string,
  connection: Connection,
): Promise<ProjectRow> {
  const { project, before } = await requireConnection(ctx, id);
  await requireExpectedVersion(ctx, project.recordVersion, () => presentProject(project));
  const now = ctx.clock.now();
  const row = {
    projectId: id,
    organizationId: project.organizationId,
    ...connection,
    createdAt: now,
    updatedAt: now,
  };
  const statements = store.connectProject(ctx, row);
  const isNew = before === undefined || store.FIELDS.some((name) => before[name] !== row[name]);
  const change = changeOf(project, "connected", before, row);
  const results = await commitChange(ctx, statements, ...(isNew ? [change] : []));
  const [connected] = results.project;
  if (connected) return connected;
  if (ctx.expectedVersions !== undefined) {
    const { project: current } = await requireConnection(ctx, id);
    await requireExpectedVersion(ctx, current.recordVersion, () => presentProject(current));
  }
  throw new Conflict("The project is disconnecting. Retry after its deployments have ended.");
}

/**
 * Idempotent. Cancels queued deployments and requests cancellation of running ones. The batch that
 * ends the last deployment sets the project to `disconnected`.
 */
export async function disconnectProject(ctx: ServiceContext, id: string): Promise<void> {
  const { project, before } = await requireConnection(ctx, id);
  const now = ctx.clock.now();
  await batch(ctx.db, {
    disconnecting: store.beginDisconnecting(ctx.db, project.organizationId, id, now),
    changelog: recordChange(ctx, changeOf(project, "disconnected", before, undefined)),
    canceled: cancelDeployments(ctx, { project: id }, now),
    finalized: finalize(ctx, { project: id }, now),
    recorded: recordResult(ctx, undefined, { condition: "always" }),
  });
}

async function requireConnection(
  ctx: ServiceContext,
  id: string,
): Promise<{ project: ProjectRow; before: ConnectionRow | undefined }> {
  const { db, actor } = ctx;
  const [[row], [before]] = await db.batch([
    findProject(db, actor, id),
    store.findConnection(db, actor.organizationId, id),
  ]);
  return { project: authorize(actor, "project", row, "owner"), before };
}

function changeOf(
  { id, name }: ProjectRow,
  action: "connected" | "disconnected",
  before: Connection | undefined,
  after: Connection | undefined,
): Change<"connected" | "disconnected"> {
  return {
    projectId: id,
    action,
    record: { type: "project", id, name },
    before: before && presentConnection(before),
    after: after && presentConnection(after),
  };
}
