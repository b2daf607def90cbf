import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import type { Change } from "../../housekeeping/changelog/index.ts";
import { findProject, type ProjectRow, presentProject } from "../../projects/projects/index.ts";
import { cancelDeployments, finalize } from "../deployments/index.ts";
import { DISCONNECTING } from "./model.ts";
import { presentConnection } from "./presenters.ts";
import type { Connection, ConnectionRow } from "./store.ts";
import * as store from "./store.ts";

export async function connectProject(
  ctx: ServiceContext,
  id: string,
  connection: Connection,
): Promise<ProjectRow> {
  const { project, before } = await requireExpected(ctx, id);
  const now = ctx.clock.now();
  const row = {
    projectId: id,
    organizationId: project.organizationId,
    ...connection,
    createdAt: now,
    updatedAt: now,
  };
  const isNew = before === undefined || store.FIELDS.some((name) => before[name] !== row[name]);
  const { connected, ...also } = store.connectProject(ctx, row);
  return write(ctx, {
    guarded: connected,
    also,
    changes: isNew ? [changeOf(project, "connected", before, row)] : [],
    ...(ctx.expectedVersions && { reread: () => requireExpected(ctx, id) }),
    otherwise: () => DISCONNECTING,
  });
}

/**
 * Idempotent. Cancels queued deployments and requests cancellation of running ones. The batch that
 * ends the last deployment sets the project to `disconnected`.
 */
export async function disconnectProject(ctx: ServiceContext, id: string): Promise<void> {
  const { project, before } = await requireConnection(ctx, id);
  const now = ctx.clock.now();
  const { disconnecting, ...first } = store.beginDisconnecting(
    ctx.db,
    project.organizationId,
    id,
    now,
  );
  await writeBatch(ctx, {
    first,
    guarded: disconnecting,
    changes: [changeOf(project, "disconnected", before, undefined)],
    effects: {
      canceled: cancelDeployments(ctx, { project: id }, now),
      finalized: finalize(ctx, { project: id }, now),
    },
    entry: { value: undefined, condition: "always" },
  });
}

/** For a write. Throws `EtagMismatch` unless the project has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string) {
  const found = await requireConnection(ctx, id);
  const { project } = found;
  await requireExpectedVersion(ctx, project.version, () => presentProject(project));
  return found;
}

async function requireConnection(
  ctx: ServiceContext,
  id: string,
): Promise<{ project: ProjectRow; before: ConnectionRow | undefined }> {
  const { db, actor } = ctx;
  const { found, connections } = await batch(db, {
    found: findProject(db, actor, id),
    connections: store.findConnection(db, actor.organizationId, id),
  });
  return { project: authorize(actor, "project", found[0], "owner"), before: connections[0] };
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
