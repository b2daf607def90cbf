import { authorize, hasBoundaries, requireOrganization, requireOrgRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { write } from "../../../writes/write.ts";
import { requireFull } from "../../housekeeping/audit/index.ts";
import { listMembers } from "../../projects/access/index.ts";
import { findProject, requireProject } from "../../projects/projects/index.ts";
import type { FreezeInput } from "./model.ts";
import { presentFreeze } from "./presenters.ts";
import type { FoundFreeze, FreezeRow } from "./store.ts";
import * as store from "./store.ts";
import { writeFreezeEvents } from "./write-events.ts";

export async function listFreezesOfOrganization(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
): Promise<Page<FreezeRow>> {
  requireOrganization(ctx.actor, organizationId);
  return toPage(page, await store.listFreezes(ctx.db, ctx.actor, null, page), (row) => row);
}

export async function listFreezesOfProject(
  ctx: ServiceContext,
  projectId: string,
  page: PageRequest,
): Promise<Page<FreezeRow>> {
  const { db, actor } = ctx;
  const { projects, rows } = await batch(db, {
    projects: findProject(db, actor, projectId),
    rows: store.listFreezes(db, actor, projectId, page),
  });
  authorize(actor, "project", projects[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function getFreeze(ctx: ServiceContext, id: string): Promise<FoundFreeze> {
  const [found] = await store.findFreeze(ctx.db, ctx.actor, id);
  if (!found) throw new NotFound("freeze");
  const { projectId } = found;
  if (projectId !== null)
    return { ...found, ...authorize(ctx.actor, "freeze", { ...found, projectId }, "viewer") };
  if (hasBoundaries(ctx.actor)) throw new NotFound("freeze");
  return found;
}

export async function createFreezeOfOrganization(
  ctx: ServiceContext,
  organizationId: string,
  input: FreezeInput,
): Promise<FreezeRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  await requireFull(ctx, { type: "organization", id: organizationId });
  return createFreeze(ctx, null, input);
}

export async function createFreezeOfProject(
  ctx: ServiceContext,
  projectId: string,
  input: FreezeInput,
): Promise<FreezeRow> {
  const { name } = await requireProject(ctx, projectId, "owner");
  await requireFull(ctx, { type: "project", id: projectId, name });
  return createFreeze(ctx, projectId, input);
}

/** The deployments that wait are evaluated again: by the schedule, because they can be many. */
export async function deleteFreeze(ctx: ServiceContext, id: string): Promise<void> {
  const freeze = await requireOwned(ctx, id);
  await write(ctx, {
    first: writeFreezeEvents(ctx, "freezes.deleted", freeze),
    guarded: store.deleteFreeze(ctx, id),
    acts: [
      {
        action: "freeze.deleted",
        target: { type: "freeze", id, name: freeze.name },
        ...(freeze.projectId !== null && { projectId: freeze.projectId }),
        changes: { before: presentFreeze(freeze) },
      },
    ],
    otherwise: () => new NotFound("freeze"),
  });
}

async function requireOwned(ctx: ServiceContext, id: string): Promise<FoundFreeze> {
  const freeze = await getFreeze(ctx, id);
  const { projectId, organizationId, name } = freeze;
  if (projectId === null) requireOrgRole(ctx.actor, organizationId, "admin");
  else authorize(ctx.actor, "freeze", { ...freeze, projectId }, "owner");
  await requireFull(ctx, { type: "freeze", id, name });
  await requireExpectedVersion(ctx, 1, () => presentFreeze(freeze, ctx));
  return freeze;
}

async function createFreeze(
  ctx: ServiceContext,
  projectId: string | null,
  input: FreezeInput,
): Promise<FreezeRow> {
  const { organizationId, membershipId } = ctx.actor;
  await requireExisting(ctx, projectId, input);
  const freeze = {
    id: newId(ctx.clock),
    organizationId,
    projectId,
    ...input,
    createdByMembershipId: membershipId,
    createdAt: ctx.clock.now(),
  };
  const { environmentIds, override, name, reason, id } = freeze;
  return write(ctx, {
    growth: {
      organizationId,
      bytes: bytesOf(name, reason, JSON.stringify([environmentIds, override])),
      bounds: [store.freezeCountBound(organizationId)],
    },
    first: writeFreezeEvents(ctx, "freezes.created", freeze),
    guarded: store.insertFreeze(ctx.db, freeze),
    value: freeze,
    acts: [
      {
        action: "freeze.created",
        target: { type: "freeze", id, name },
        ...(projectId !== null && { projectId }),
        changes: { after: presentFreeze(freeze) },
      },
    ],
  });
}

async function requireExisting(
  { db, actor }: ServiceContext,
  projectId: string | null,
  { environmentIds, override }: FreezeInput,
): Promise<void> {
  const { organizationId } = actor;
  const { environments, members } = await batch(db, {
    environments: store.listEnvironmentsOf(db, organizationId, projectId, environmentIds ?? []),
    members: listMembers(db, organizationId, override),
  });
  if (environments.length < new Set(environmentIds).size) throw new NotFound("environment");
  if (members.length < new Set(override).size) throw new NotFound("membership");
}
