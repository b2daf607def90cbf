import { toRevokedKey } from "../../auth/credentials.ts";
import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { conflictIfTaken } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import type { Clock } from "../../lib/clock.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { limitGrowth } from "../usage/index.ts";
import { incrementKeyVersions } from "./member-keys.ts";
import type { AccountRow, MemberRow, NewAccount } from "./store.ts";
import * as store from "./store.ts";

const LAST_OWNER =
  "The organization and each of its projects need at least one owner. Make another member owner " +
  "first.";

export const LAST_OWNER_KEY =
  "The organization would keep no owner's key without an expiration date. Create one first: POST " +
  "/v1/orgs/{org_id}/api-keys for an owner, with the role owner and without expires_at.";

const refuseExistingMember = conflictIfTaken(
  ["memberships.organization_id", "memberships.account_id"],
  "The account of this e-mail address is already a member of the organization.",
);

export async function listMembers(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
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

export async function addMember(
  ctx: ServiceContext,
  organizationId: string,
  input: NewAccount & { role: OrgRole },
): Promise<MemberRow> {
  requireOrgRole(ctx.actor, organizationId, roleToManage(input.role));
  const now = ctx.clock.now();
  const id = newId(ctx.clock);
  const membership = { id, organizationId, role: input.role, createdAt: now, updatedAt: now };
  const limits = limitGrowth(ctx, { organizationId, records: { members: 1 } });
  const statements = {
    limits: limits.statement,
    account: store.insertAccount(ctx.db, toAccountRow(ctx.clock, input)),
    membership: store.insertMembership(ctx.db, membership, input.email),
    created: store.findMember(ctx.db, organizationId, id),
  };
  const { created } = await refuseExistingMember(limits.enforce(runBatch(ctx.db, statements)));
  const [row] = created;
  if (!row) throw new Error("The batch returned no membership");
  return row;
}

export async function changeMemberRole(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  role: OrgRole,
): Promise<MemberRow> {
  const member = await getMember(ctx, organizationId, id);
  requireOrgRole(ctx.actor, organizationId, roleToManage(member.role, role));
  const { changed, keys } = await runBatch(ctx.db, {
    changed: store.changeRole(ctx.db, organizationId, id, {
      from: member.role,
      to: role,
      now: ctx.clock.now(),
    }),
    keys: incrementKeyVersions(ctx.db, organizationId, id),
  });
  if (changed.length === 0) throw await findConflict(ctx, member);
  await ctx.invalidateKeys(keys);
  return { ...member, role };
}

export async function removeMember(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const member = await getMember(ctx, organizationId, id);
  requireOrgRole(ctx.actor, organizationId, roleToManage(member.role));
  const statements = store.removeMember(ctx, organizationId, id, {
    from: member.role,
    now: ctx.clock.now(),
  });
  const { keys, removed } = await runBatch(ctx.db, statements);
  if (removed.length === 0) throw await findConflict(ctx, member);
  await ctx.invalidateKeys(keys.map((key) => toRevokedKey(key, ctx.clock)));
}

export function toAccountRow(clock: Clock, account: NewAccount): AccountRow {
  const now = clock.now();
  const { email, name, displayName, avatar, profile } = account;
  const fields = { email, name, displayName: displayName ?? name, avatar, profile };
  return { id: newId(clock), ...fields, createdAt: now, updatedAt: now };
}

/** The reason that a guarded write changed no row. Throws `NotFound` for a removed member. */
async function findConflict(ctx: ServiceContext, before: MemberRow): Promise<Conflict> {
  const { organizationId, membershipId } = before;
  const after = await getMember(ctx, organizationId, membershipId);
  if (after.role !== before.role) {
    return new Conflict("The member's role has just changed. Read it again and retry.");
  }
  const now = ctx.clock.now();
  const lastKey = await store.findLastOwnerKey(ctx.db, organizationId, membershipId, now);
  return new Conflict(lastKey?.found ? LAST_OWNER_KEY : LAST_OWNER);
}

/** Only an owner adds, changes or removes an owner. */
function roleToManage(...roles: readonly OrgRole[]): OrgRole {
  return roles.includes("owner") ? "owner" : "admin";
}
