import { lineageOf, requireOrgRole } from "../../../actor.ts";
import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import type { Clock } from "../../../lib/clock.ts";
import { NotFound, Unauthorized } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { type OrgRole, orgRoleReaches } from "../../../lib/roles.ts";
import { trustsAdmins } from "../../../lib/settings.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import {
  type AuditedAct,
  EVERYWHERE,
  refuseEscalation,
  requireFull,
  requireFullWhereProtected,
} from "../../housekeeping/audit/index.ts";
import type { MemberStatus } from "../../tenancy/model.ts";
import { closePart, incrementKeyVersions, revokeFamilyOf } from "../credentials/index.ts";
import { LAST_OWNER_KEY } from "../credentials/model.ts";
import {
  CREATOR_CHANGED,
  LAST_OWNER,
  MEMBER_EXISTS,
  PENDING_MEMBER,
  ROLE_CHANGED,
  SERVICE_ACCOUNT_AS_OWNER,
} from "./model.ts";
import { presentMember } from "./presenters.ts";
import type { AccountRow, MemberRow, NewAccount } from "./store.ts";
import * as store from "./store.ts";

const TAKEN = { "memberships.organization_id, memberships.email": MEMBER_EXISTS };

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
  const origin = { addedByKeyId, addedBySessionId, signedInAt: null, version: 1 };
  const ids = { id, organizationId, accountId: account.id, kind: "person" } as const;
  const membership = { ...ids, role, status, email, ...times, ...origin };
  const changes = { after: { account_id: account.id, role, status } };
  const guarded = store.insertAccount(ctx, account);
  return write(ctx, {
    growth: { organizationId, records: { members: 1 } },
    guarded,
    also: { membership: store.insertMembership(ctx.db, membership, guarded) },
    reads: store.findMember(ctx.db, organizationId, id),
    acts: [{ action: "member.added", target, changes }],
    taken: TAKEN,
    otherwise: () => CREATOR_CHANGED,
  });
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
  await requireFullWhereProtected(ctx, targetOf(member), EVERYWHERE);
  await requireExpectedVersion(ctx, member.version, () => presentMember(member));
  if (role === "owner" && member.kind === "service_account") throw SERVICE_ACCOUNT_AS_OWNER;
  if (role === member.role) return member;
  const act: AuditedAct = {
    action: "member.role_changed",
    target: targetOf(member),
    changes: { before: { role: member.role }, after: { role } },
  };
  const change = { from: member.role, to: role, now: ctx.clock.now() };
  const guarded = store.changeRole(ctx, organizationId, id, change);
  const keys = after(guarded, (hasChanged) =>
    incrementKeyVersions(ctx.db, organizationId, id, hasChanged),
  );
  const results = await writeBatch(ctx, { guarded, acts: [act], effects: { keys } });
  const [written] = results.guarded;
  if (!written) {
    await requireChangeable(ctx, member);
    throw LAST_OWNER;
  }
  await ctx.invalidateKeys(results.effects.keys);
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
  await requireExpectedVersion(ctx, member.version, () => presentMember(member));
  const { accountId, role } = member;
  const removal = { from: role, now: ctx.clock.now() };
  const act: AuditedAct = {
    action: "member.removed",
    target: targetOf(member),
    changes: { before: { account_id: accountId, role } },
  };
  const isRemoved = await endMembership(ctx, { organizationId, id, accountId }, removal, act);
  if (isRemoved) return;
  await requireChangeable(ctx, member);
  throw LAST_OWNER;
}

interface Membership {
  organizationId: string;
  id: string;
  accountId: string;
}

/**
 * Removes a membership with its keys, in several batches if they are many, because all others wait for each. Returns
 * false if it may not be removed: see `removeMember` of the store.
 */
export async function endMembership(
  ctx: ServiceContext,
  { organizationId, id, accountId }: Membership,
  removal: { from: OrgRole; now: number },
  act: AuditedAct,
): Promise<boolean> {
  for (;;) {
    const { removed, ...first } = store.removeMember(ctx, organizationId, id, removal);
    const results = await writeBatch(ctx, {
      first,
      guarded: removed,
      acts: [act],
      effects: {
        account: store.deleteUnprovenAccount(ctx.db, accountId),
        closed: closePart(ctx.db),
      },
    });
    const { revoked } = results.first.keys;
    await ctx.invalidateKeys(revoked.map((key) => toRevokedKey(key, ctx.clock)));
    if (results.guarded.length > 0) return true;
    if (revoked.length === 0) return false;
  }
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
  await revokeFamilyOf(ctx, { organizationId, roots: [id], reach: "founded" });
}

export function toAccountRow(clock: Clock, account: NewAccount): AccountRow {
  const now = clock.now();
  const { email, name, displayName, avatar, profile } = account;
  const fields = { email, name, displayName: displayName ?? name, avatar, profile };
  return { id: newId(clock), ...fields, createdAt: now, updatedAt: now, version: 1 };
}

/** Without the address: only the membership has it, until the person proves that it is theirs. */
export function toUnprovenAccount(clock: Clock, account: NewAccount): AccountRow {
  const row = toAccountRow(clock, account);
  return { ...row, email: row.id };
}

/** Throws a `Conflict` for a membership that can have no keys and no projects. */
export function requireActive({ status }: { status: MemberStatus }): void {
  if (status === "pending") throw PENDING_MEMBER;
}

/** Only an owner adds, changes or removes an owner. */
function roleToManage(...roles: readonly OrgRole[]): OrgRole {
  return roles.includes("owner") ? "owner" : "admin";
}

/** Audits the attempt of an admin to manage an owner. */
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

/** Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<MemberRow> {
  const member = await getMember(ctx, organizationId, id);
  await requireExpectedVersion(ctx, member.version, () => presentMember(member));
  return member;
}

function targetOf({ membershipId, name }: MemberRow) {
  return { type: "member", id: membershipId, name } as const;
}

/** Throws if the member has changed, or has the last owner's key. */
async function requireChangeable(ctx: ServiceContext, before: MemberRow): Promise<void> {
  const { organizationId, membershipId } = before;
  const { role } = await requireExpected(ctx, organizationId, membershipId);
  if (role !== before.role) throw ROLE_CHANGED;
  const now = ctx.clock.now();
  const lastKey = await store.findLastOwnerKey(ctx.db, organizationId, membershipId, now);
  if (lastKey?.found) throw LAST_OWNER_KEY;
}
