import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { changesOf } from "../../housekeeping/changelog/index.ts";
import { requireActive } from "../../identity/memberships/index.ts";
import { requireProjectAuthority } from "../access/index.ts";
import { findProject } from "../projects/index.ts";
import { EXISTING_MEMBER, LAST_OWNER } from "./model.ts";
import { presentProjectMember } from "./presenters.ts";
import type { ProjectMemberRow } from "./store.ts";
import * as store from "./store.ts";

const taken = { "project_members.project_id, project_members.membership_id": EXISTING_MEMBER };

const changes = changesOf(
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
  const { projects, rows } = await batch(ctx.db, {
    projects: findProject(ctx.db, ctx.actor, projectId),
    rows: store.listMembers(ctx.db, organizationId, projectId, page),
  });
  authorize(ctx.actor, "project", projects[0], "viewer");
  return toPage(page, rows, (row) => ({ createdAt: row.createdAt, id: row.membershipId }));
}

export async function getMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<ProjectMemberRow> {
  return (await requireMember(ctx, projectId, membershipId, "viewer")).member;
}

/** Adds all memberships or none. Returns the members in the order of the request. */
export async function addMembers(
  ctx: ServiceContext,
  projectId: string,
  input: { membershipIds: readonly string[]; role: ProjectRole },
): Promise<ProjectMemberRow[]> {
  const { db, actor } = ctx;
  const { found, memberships } = await batch(db, {
    found: findProject(db, actor, projectId),
    memberships: store.findMemberships(db, actor.organizationId, input.membershipIds),
  });
  const project = authorize(actor, "project", found[0], "owner");
  await requireProjectAuthority(ctx, project);
  const { organizationId, createdAt: projectCreatedAt } = project;
  const now = ctx.clock.now();
  const byId = new Map(memberships.map((membership) => [membership.membershipId, membership]));
  const members = input.membershipIds.map((id) => {
    const membership = byId.get(id);
    if (!membership) throw new NotFound("membership");
    requireActive(membership);
    return { ...membership, projectId, role: input.role, createdAt: now, version: 1 };
  });
  const added = { organizationId, projectId, projectCreatedAt, ...input, now };
  const { role, membershipIds } = input;
  const after = { role, members: membershipIds, count: members.length };
  return write(ctx, {
    growth: { organizationId, records: { project_members: members.length } },
    guarded: store.addMembers(db, added),
    value: members,
    changes: members.map(changes.created),
    together: {
      action: "project_members.added",
      target: { type: "project", id: projectId, name: project.name },
      projectId,
      changes: { after },
    },
    taken,
    otherwise: () => new NotFound("membership"),
  });
}

export async function changeMemberRole(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  role: ProjectRole,
): Promise<ProjectMemberRow> {
  const reread = () => requireExpected(ctx, projectId, membershipId);
  const before = await reread();
  const after = { ...before, role };
  const { changed, ...first } = store.changeRole(ctx, projectId, membershipId, role);
  const written = await write(ctx, {
    first,
    guarded: changed,
    changes: [changes.updated(before, after)],
    unchanged: before,
    reread,
    otherwise: () => LAST_OWNER,
    committed: ({ keys }) => ctx.invalidateKeys(keys),
  });
  return { ...after, version: written.version };
}

export async function removeMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<void> {
  const reread = () => requireExpected(ctx, projectId, membershipId);
  const before = await reread();
  const { removed, ...first } = store.removeMember(ctx, projectId, membershipId);
  await write(ctx, {
    first,
    guarded: removed,
    changes: [changes.deleted(before)],
    reread,
    otherwise: () => LAST_OWNER,
    committed: ({ keys }) => ctx.invalidateKeys(keys),
  });
}

async function requireMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  needed: ProjectRole,
) {
  const { organizationId } = ctx.actor;
  const { projects, members } = await batch(ctx.db, {
    projects: findProject(ctx.db, ctx.actor, projectId),
    members: store.findMember(ctx.db, organizationId, projectId, membershipId),
  });
  const [member] = members;
  const project = authorize(ctx.actor, "project", projects[0], needed);
  if (!member) throw new NotFound("member of the project");
  return { project, member };
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<ProjectMemberRow> {
  const { project, member } = await requireMember(ctx, projectId, membershipId, "owner");
  await requireProjectAuthority(ctx, project);
  await requireExpectedVersion(ctx, member.version, () => presentProjectMember(member));
  return member;
}
