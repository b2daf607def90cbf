import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { mapUniqueViolation } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { findProject } from "../projects/index.ts";
import { limitGrowth } from "../usage/index.ts";
import { presentProjectMember } from "./presenters.ts";
import type { ProjectMemberRow } from "./store.ts";
import * as store from "./store.ts";

const LAST_OWNER = "A project keeps at least one owner. Make somebody else owner first.";

const changes = changeRecorder(
  "project_member",
  (row: ProjectMemberRow) => row.projectId,
  (row) => ({ id: row.membershipId, ...presentProjectMember(row) }),
);

/** The members of a project with one of `roles`, or all if there are none; takes a viewer. */
export async function listMembers(
  ctx: ServiceContext,
  projectId: string,
  page: PageRequest & { roles: readonly ProjectRole[] },
): Promise<Page<ProjectMemberRow>> {
  const { organizationId } = ctx.actor;
  const [[project], found] = await ctx.db.batch([
    findProject(ctx.db, ctx.actor, projectId),
    store.listMembers(ctx.db, organizationId, projectId, page),
  ]);
  authorize(ctx.actor, "project", project, "viewer");
  return toPage(page, found, (row) => ({ createdAt: row.createdAt, id: row.membershipId }));
}

/** One member of a project; takes a viewer. Throws `NotFound`. */
export async function getMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<ProjectMemberRow> {
  return requireMember(ctx, projectId, membershipId, "viewer");
}

/** Adds memberships of the organization to a project, in the order given: all of them, or none. */
export async function addMembers(
  ctx: ServiceContext,
  projectId: string,
  input: { membershipIds: readonly string[]; role: ProjectRole },
): Promise<ProjectMemberRow[]> {
  const { db, actor } = ctx;
  const [[found], people] = await db.batch([
    findProject(db, actor, projectId),
    store.findPeople(db, actor.organizationId, input.membershipIds),
  ]);
  const project = authorize(actor, "project", found, "owner");
  const { organizationId, createdAt: projectCreatedAt } = project;
  const now = ctx.clock.now();
  const byId = new Map(people.map((person) => [person.membershipId, person]));
  const members = input.membershipIds.map((id) => {
    const person = byId.get(id);
    if (!person) throw new NotFound("membership");
    return { ...person, projectId, role: input.role, createdAt: now };
  });
  const added = { organizationId, projectId, projectCreatedAt, ...input, now };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { project_members: members.length },
  });
  const statements = { limits: limits.statement, inserted: store.addMembers(db, added) };
  const { inserted } = await mapUniqueViolation(
    limits.enforce(commitChange(ctx, statements, ...members.map(changes.created))),
    ["project_members.project_id", "project_members.membership_id"],
    () => new Conflict("One of the memberships is in the project already; nobody was added."),
  );
  if (inserted.length < members.length) throw new NotFound("membership");
  return members;
}

/** Gives a member another role in the project, which keeps at least one owner. */
export async function changeMemberRole(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
  role: ProjectRole,
): Promise<ProjectMemberRow> {
  const before = await requireMember(ctx, projectId, membershipId, "owner");
  const { organizationId } = ctx.actor;
  const after = { ...before, role };
  const changed = store.changeRole(ctx.db, organizationId, projectId, membershipId, role);
  const results = await commitChange(ctx, { changed }, changes.updated(before, after));
  if (!results) return before;
  if (results.changed.length === 0) throw await explainRefusal(ctx, projectId, membershipId);
  return after;
}

/** Takes a member out of the project, which keeps at least one owner. */
export async function removeMember(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<void> {
  const before = await requireMember(ctx, projectId, membershipId, "owner");
  const { organizationId } = ctx.actor;
  const statements = {
    removed: store.removeMember(ctx.db, organizationId, projectId, membershipId),
  };
  const { removed } = await commitChange(ctx, statements, changes.deleted(before));
  if (removed.length === 0) throw await explainRefusal(ctx, projectId, membershipId);
}

/** The member, for an actor who has at least the role `needed` in the project. */
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

/** Why a guarded write changed nothing: the member is gone, or is the last owner. */
async function explainRefusal(
  ctx: ServiceContext,
  projectId: string,
  membershipId: string,
): Promise<Conflict> {
  await requireMember(ctx, projectId, membershipId, "owner");
  return new Conflict(LAST_OWNER);
}
