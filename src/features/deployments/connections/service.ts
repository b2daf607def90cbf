import { authorize, hasProjectRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import type { Change } from "../../housekeeping/changelog/index.ts";
import { requireProjectAuthority } from "../../projects/access/index.ts";
import { findProject, type ProjectRow, presentProject } from "../../projects/projects/index.ts";
import { cancelOfDisconnecting, finalize } from "../deployments/index.ts";
import { type Connection, DISCONNECTING } from "./model.ts";
import { presentConnection, presentWithExternalId, toColumns } from "./presenters.ts";
import type { ConnectionColumns } from "./store.ts";
import * as store from "./store.ts";

/** The external ID is for owners only. */
export async function getConnection(ctx: ServiceContext, projectId: string) {
  const { project, before } = await findWithProject(ctx, projectId, "viewer");
  if (!before) throw new NotFound("connection of the project");
  return hasProjectRole(ctx.actor, project, "owner")
    ? presentWithExternalId(before)
    : presentConnection(before);
}

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
    ...toColumns(connection),
    externalId: connection.provider === "aws" ? newId(ctx.clock) : null,
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
  const { project, before } = await findWithProject(ctx, id, "owner");
  await requireProjectAuthority(ctx, project);
  const now = ctx.clock.now();
  const { disconnecting, ...first } = store.beginDisconnecting(ctx, id, now);
  await writeBatch(ctx, {
    first,
    guarded: disconnecting,
    changes: [changeOf(project, "disconnected", before, undefined)],
    effects: {
      canceled: cancelOfDisconnecting(ctx.db, now, { project: id }),
      finalized: finalize(ctx, { project: id }, now),
    },
    entry: { value: undefined, condition: "always" },
  });
}

/** For a write. Throws `EtagMismatch` unless the project has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string) {
  const found = await findWithProject(ctx, id, "owner");
  const { project } = found;
  await requireProjectAuthority(ctx, project);
  await requireExpectedVersion(ctx, project.version, () => presentProject(project));
  return found;
}

async function findWithProject(ctx: ServiceContext, id: string, needed: ProjectRole) {
  const { db, actor } = ctx;
  const { found, connections } = await batch(db, {
    found: findProject(db, actor, id),
    connections: store.findConnection(db, actor.organizationId, id),
  });
  return { project: authorize(actor, "project", found[0], needed), before: connections[0] };
}

function changeOf(
  { id, name }: ProjectRow,
  action: "connected" | "disconnected",
  before: ConnectionColumns | undefined,
  after: ConnectionColumns | undefined,
): Change<"connected" | "disconnected"> {
  return {
    projectId: id,
    action,
    record: { type: "project", id, name },
    before: before && presentConnection(before),
    after: after && presentConnection(after),
  };
}
