import { toRevokedKey } from "../../auth/credentials.ts";
import {
  lineageOf,
  requireExpectedVersion,
  requireOrgRole,
  type ServiceContext,
} from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { refuseTaken } from "../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import type { Clock } from "../../lib/clock.ts";
import { BadInput, Conflict, NotFound, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type OrgRole, orgRoleReaches } from "../../lib/roles.ts";
import { trustsAdmins } from "../../lib/settings.ts";
import { type AuditedAct, recordActs, refuseEscalation, requireFull } from "../audit/index.ts";
import { recordRow } from "../idempotency/index.ts";
import { limitGrowth } from "../usage/index.ts";
import { credentialsOf } from "./family.ts";
import { revokeFamilyOf } from "./family-revocation.ts";
import { incrementKeyVersions } from "./member-keys.ts";
import { LAST_OWNER_KEY, type MemberStatus } from "./model.ts";
import { presentMember } from "./presenters.ts";
import type { AccountRow, MemberRow, NewAccount } from "./store.ts";
import * as store from "./store.ts";

export const LAST_OWNER =
  "The organization and each of its projects need at least one owner. Make another member owner " +
  "first.";

export const CREATOR_CHANGED = "The credential that adds the member has just changed. Retry.";

export const MEMBER_EXISTS =
  "The account of this e-mail address is already a member of the organization.";

export const PENDING_MEMBER =
  "The membership is pending: it has no keys and no projects until the person has signed in with " +
  "the e-mail address and accepted it.";

export const SERVICE_ACCOUNT_AS_OWNER = new BadInput([
  { path: "role", message: "A service account cannot be an owner. Send admin or member." },
]);

const TAKEN = { "memberships.organization_id, memberships.email": new Conflict(MEMBER_EXISTS) };

export async function listMembers(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<MemberRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await store.listMembers(ctx.db, organizationId, page);
  return toPage(page, rows, (row) => ({ createdAt: row.createdAt, id: row.membershipId }));
}

export async function getMember(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<MemberRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await store.findMember(ctx.db, organizationId, id);
  if (!row) throw new NotFound("membership");
  return row;
}

/** Always with a new account, so that nothing is revealed of one that another organization has. */
export async function addMember(
  ctx: ServiceContext,
  organizationId: string,
  input: NewAccount & { role: OrgRole },
): Promise<MemberRow> {
  const { role, email } = input;
  const id = newId(ctx.clock);
  const target = { type: "member", id, name: input.name } as const;
  await requireRoleToManage(ctx, organizationId, { type: "member", id }, [role]);
  await requireFull(ctx, { type: "member", id });
  const now = ctx.clock.now();
  const account = toUnprovenAccount(ctx.clock, input);
  const status: MemberStatus = trustsAdmins(ctx.settings) ? "active" : "pending";
  const times = { createdAt: now, updatedAt: now };
  const { createdByKeyId: addedByKeyId, createdBySessionId: addedBySessionId } = lineageOf(
    ctx.actor,
  );
  const origin = { addedByKeyId, addedBySessionId, signedInAt: null, recordVersion: 1 };
  const ids = { id, organizationId, accountId: account.id, kind: "person" } as const;
  const membership = { ...ids, role, status, email, ...times, ...origin };
  const limits = limitGrowth(ctx, { organizationId, records: { members: 1 } });
  const changes = { after: { account_id: account.id, role, status } };
  const statements = {
    limits: limits.statement,
    account: store.insertAccount(ctx, account),
    membership: store.insertMembership(ctx.db, membership),
    recorded: recordRow(ctx, store.findMember(ctx.db, organizationId, id)),
    audit: recordActs(ctx, organizationId, [{ action: "member.added", target, changes }]),
    created: store.findMember(ctx.db, organizationId, id),
  };
  const { created } = await refuseTaken(limits.enforce(batch(ctx.db, statements)), TAKEN);
  const [row] = created;
  if (!row) throw new Conflict(CREATOR_CHANGED);
  return row;
}

export async function changeMemberRole(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  role: OrgRole,
): Promise<MemberRow> {
  const member = await getMember(ctx, organizationId, id);
  await requireRoleToManage(ctx, organizationId, targetOf(member), [member.role, role]);
  if (!orgRoleReaches(member.role, role)) await requireFull(ctx, targetOf(member));
  await requireCurrent(ctx, member);
  if (role === "owner" && member.kind === "service_account") throw SERVICE_ACCOUNT_AS_OWNER;
  if (role === member.role) return member;
  const act: AuditedAct = {
    action: "member.role_changed",
    target: targetOf(member),
    changes: { before: { role: member.role }, after: { role } },
  };
  const change = { from: member.role, to: role, now: ctx.clock.now() };
  const { changed, keys } = await batch(ctx.db, {
    changed: store.changeRole(ctx, organizationId, id, change),
    audit: recordActs(ctx, organizationId, [act]),
    keys: incrementKeyVersions(ctx.db, organizationId, id),
  });
  const [written] = changed;
  if (!written) throw await findConflict(ctx, member);
  await ctx.invalidateKeys(keys);
  return { ...member, role, ...written };
}

/** What the member has made for others stays. */
export async function removeMember(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const member = await getMember(ctx, organizationId, id);
  await requireRoleToManage(ctx, organizationId, targetOf(member), [member.role]);
  await requireCurrent(ctx, member);
  const { accountId, role } = member;
  const removal = { from: role, now: ctx.clock.now() };
  const act: AuditedAct = {
    action: "member.removed",
    target: targetOf(member),
    changes: { before: { account_id: accountId, role } },
  };
  const { removal: done } = await batch(ctx.db, {
    removal: store.removeMember(ctx, organizationId, id, removal),
    audit: recordActs(ctx, organizationId, [act]),
    account: store.deleteUnprovenAccount(ctx.db, accountId),
  });
  if (done.removed.length === 0) throw await findConflict(ctx, member);
  await ctx.invalidateKeys(done.keys.revoked.map((key) => toRevokedKey(key, ctx.clock)));
}

/** Removes the member, and ends what it has made: also that of a member who was removed before. */
export async function removeMemberWithFamily(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  await requireFull(ctx, { type: "member", id });
  const [former] = await store.findFormerMember(ctx.db, organizationId, id);
  if (!former) await removeMember(ctx, organizationId, id);
  else await requireRoleToManage(ctx, organizationId, { type: "member", id }, [former.role]);
  await revokeFamilyOf(ctx, { organizationId, roots: credentialsOf(id), reach: "founded" });
}

export function toAccountRow(clock: Clock, account: NewAccount): AccountRow {
  const now = clock.now();
  const { email, name, displayName, avatar, profile } = account;
  const fields = { email, name, displayName: displayName ?? name, avatar, profile };
  return { id: newId(clock), ...fields, createdAt: now, updatedAt: now, recordVersion: 1 };
}

/** Without the address: only the membership has it, until the person proves that it is theirs. */
export function toUnprovenAccount(clock: Clock, account: NewAccount): AccountRow {
  const row = toAccountRow(clock, account);
  return { ...row, email: row.id };
}

/** Throws a `Conflict` for a membership that can have no keys and no projects. */
export function requireActive({ status }: { status: MemberStatus }): void {
  if (status === "pending") throw new Conflict(PENDING_MEMBER);
}

/** Only an owner adds, changes or removes an owner. */
export function roleToManage(...roles: readonly OrgRole[]): OrgRole {
  return roles.includes("owner") ? "owner" : "admin";
}

/** Records the attempt of an admin to manage an owner. */
export async function requireRoleToManage(
  ctx: ServiceContext,
  organizationId: string,
  target: AuditedAct["target"],
  roles: readonly OrgRole[],
): Promise<void> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const needed = roleToManage(...roles);
  if (orgRoleReaches(ctx.actor.role, needed)) return;
  await refuseEscalation(ctx, target, Unauthorized.role(needed));
}

async function requireCurrent(ctx: ServiceContext, member: MemberRow): Promise<void> {
  await requireExpectedVersion(ctx, member.recordVersion, () => presentMember(member));
}

function targetOf({ membershipId, name }: MemberRow) {
  return { type: "member", id: membershipId, name } as const;
}

/** The reason that a guarded write changed no row. Throws `NotFound` for a removed member. */
async function findConflict(ctx: ServiceContext, before: MemberRow): Promise<Conflict> {
  const { organizationId, membershipId } = before;
  const after = await getMember(ctx, organizationId, membershipId);
  await requireCurrent(ctx, after);
  if (after.role !== before.role) {
    return new Conflict("The member's role has just changed. Read it again and retry.");
  }
  const now = ctx.clock.now();
  const lastKey = await store.findLastOwnerKey(ctx.db, organizationId, membershipId, now);
  return new Conflict(lastKey?.found ? LAST_OWNER_KEY : LAST_OWNER);
}
