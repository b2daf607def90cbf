import type { ServiceContext } from "../../context.ts";
import { authorize, requireExpectedVersion } from "../../context.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { recordResult } from "../idempotency/index.ts";
import { requireActive } from "../memberships/index.ts";
import { findProject } from "../projects/index.ts";
import { limitGrowth } from "../usage/index.ts";
import { presentProjectMember } from "./presenters.ts";
import type { ProjectMemberRow } from "./store.ts";
import * as store from "./store.ts";

const LAST_OWNER = "A project needs at least one owner. Make another member owner first.";

const refuseExistingMembers = conflictIfTaken(
  ["project_members.project_id", "project_members.membership_id"],
  "One of the memberships is already in the project; none was added.",
);

const changes = changeRecorder(
  "project_member",
  (row: ProjectMemberRow) => row.projectId,
  (row) => ({ id: row.membershipId, ...presentProjectMember(row) }),
);

export async function listMembers(
  ctx: ServiceContext,
  projectId: string,
  page: NamedPageRequest & { roles: readonly ProjectRole[] },
): Promise<Page<ProjectMemberRow>> {
  const { organizationId } = ctx.actor;
  const [[project], rows] = await ctx.db.batch([
    findProject(ctx.db, ctx.actor, projectId),
    store.listMembers(ctx.db, organizationId, projectId, page),
  ]);
  authorize(ctx.actor, "project", project, "viewer");
  return toPage(page, rows, (row) => ({ createdAt: row.createdAt, id: row.membershipId }));
}

export async function getMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<ProjectMemberRow> {
  return requireMember(ctx, projectId, membershipId, "viewer");
}

/** Adds all memberships or none. Returns the members in the order of the request. */
export async function addMembers(
  ctx: ServiceContext,
  projectId: string,
  input: { membershipIds: readonly string[]; role: ProjectRole },
): Promise<ProjectMemberRow[]> {
  const { db, actor } = ctx;
  const [[row], memberships] = await db.batch([
    findProject(db, actor, projectId),
    store.findMemberships(db, actor.organizationId, input.membershipIds),
  ]);
  const project = authorize(actor, "project", row, "owner");
  const { organizationId, createdAt: projectCreatedAt } = project;
  const now = ctx.clock.now();
  const byId = new Map(memberships.map((membership) => [membership.membershipId, membership]));
  const members = input.membershipIds.map((id) => {
    const membership = byId.get(id);
    if (!membership) throw new NotFound("membership");
    requireActive(membership);
    return { ...membership, projectId, role: input.role, createdAt: now, recordVersion: 1 };
  });
  const added = { organizationId, projectId, projectCreatedAt, ...input, now };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { project_members: members.length },
  });
  const statements = {
    limits: limits.statement,
    inserted: store.addMembers(db, added),
    recorded: recordResult(ctx, members),
  };
  const { inserted } = await refuseExistingMembers(
    limits.enforce(commitChange(ctx, statements, ...members.map(changes.created))),
  );
  if (inserted.length < members.length) throw new NotFound("membership");
  return members;
}

export async function changeMemberRole(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  role: ProjectRole,
): Promise<ProjectMemberRow> {
  const before = await requireCurrent(ctx, projectId, membershipId);
  const after = { ...before, role };
  const statements = store.changeRole(ctx, projectId, membershipId, role);
  const results = await commitChange(ctx, statements, changes.updated(before, after));
  if (!results) return before;
  const [written] = results.changed;
  if (!written) throw await findConflict(ctx, projectId, membershipId);
  await ctx.invalidateKeys(results.keys);
  return { ...after, ...written };
}

export async function removeMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<void> {
  const before = await requireCurrent(ctx, projectId, membershipId);
  const statements = store.removeMember(ctx, projectId, membershipId);
  const { keys, removed } = await commitChange(ctx, statements, changes.deleted(before));
  if (removed.length === 0) throw await findConflict(ctx, projectId, membershipId);
  await ctx.invalidateKeys(keys);
}

async function requireMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  needed: ProjectRole,
): Promise<ProjectMemberRow> {
  const { organizationId } = ctx.actor;
  const [[project], [member]] = await ctx.db.batch([
    findProject(ctx.db, ctx.actor, projectId),
    store.findMember(ctx.db, organizationId, projectId, membershipId),
  ]);
  authorize(ctx.actor, "project", project, needed);
  if (!member) throw new NotFound("member of the project");
  return member;
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireCurrent(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<ProjectMemberRow> {
  const member = await requireMember(ctx, projectId, membershipId, "owner");
  await requireExpectedVersion(ctx, member.recordVersion, () => presentProjectMember(member));
  return member;
}

/** The reason that a guarded write changed no row. Throws `NotFound` for a removed member. */
async function findConflict(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<Conflict> {
  await requireCurrent(ctx, projectId, membershipId);
  return new Conflict(LAST_OWNER);
}
