import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { mapUniqueViolation } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import type { Clock } from "../../lib/clock.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { limitGrowth } from "../usage/index.ts";
import type { MemberRow, NewAccount, NewPerson } from "./store.ts";
import * as store from "./store.ts";

const KEEPS_OWNER =
  "The organization, and each of its projects, keeps at least one owner. Make somebody else owner " +
  "first.";

/** The members of an organization; takes an admin. */
export async function listMembers(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
): Promise<Page<MemberRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const found = await store.listMembers(ctx.db, organizationId, page);
  return toPage(page, found, (row) => ({ createdAt: row.createdAt, id: row.membershipId }));
}

/** One member of an organization; takes an admin. Throws `NotFound`. */
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

/** Adds the account of an e-mail address, making it if nobody has. */
export async function addMember(
  ctx: ServiceContext,
  organizationId: string,
  input: NewPerson & { role: OrgRole },
): Promise<MemberRow> {
  requireOrgRole(ctx.actor, organizationId, neededFor(input.role));
  const now = ctx.clock.now();
  const id = newId(ctx.clock);
  const membership = { id, organizationId, role: input.role, createdAt: now, updatedAt: now };
  const limits = limitGrowth(ctx, { organizationId, records: { members: 1 } });
  const statements = {
    limits: limits.statement,
    account: store.insertAccount(ctx.db, newAccount(ctx.clock, input)),
    membership: store.insertMembership(ctx.db, membership, input.email),
    created: store.findMember(ctx.db, organizationId, id),
  };
  const { created } = await mapUniqueViolation(
    limits.enforce(runBatch(ctx.db, statements)),
    ["memberships.organization_id", "memberships.account_id"],
    () => new Conflict("The account of this e-mail address is already in the organization."),
  );
  const [row] = created;
  if (!row) throw new Error("The batch returned no membership");
  return row;
}

/** Gives a member another role, of which its keys hear. Throws `Conflict` for the last owner. */
export async function changeMemberRole(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  role: OrgRole,
): Promise<MemberRow> {
  const member = await getMember(ctx, organizationId, id);
  requireOrgRole(ctx.actor, organizationId, neededFor(member.role, role));
  const { changed, keys } = await runBatch(ctx.db, {
    changed: store.changeRole(ctx.db, organizationId, id, {
      from: member.role,
      to: role,
      now: ctx.clock.now(),
    }),
    keys: store.raiseKeyVersions(ctx.db, organizationId, id),
  });
  if (changed.length === 0) throw await explainRefusal(ctx, member);
  await ctx.invalidateKeys(keys);
  return { ...member, role };
}

/** Removes a membership, its keys, and its place in every project. */
export async function removeMember(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const member = await getMember(ctx, organizationId, id);
  requireOrgRole(ctx.actor, organizationId, neededFor(member.role));
  const statements = store.removeMember(ctx, organizationId, id, member.role);
  const { keys, removed } = await runBatch(ctx.db, statements);
  if (removed.length === 0) throw await explainRefusal(ctx, member);
  await ctx.invalidateKeys(keys.map((key) => ({ ...key, version: key.version + 1 })));
}

/** The row of an account for a person, called by the name unless another is to be shown. */
export function newAccount(clock: Clock, person: NewPerson): NewAccount & { id: string } {
  const now = clock.now();
  const { email, name, displayName, avatar, profile } = person;
  const shown = { name, displayName: displayName ?? name, avatar, profile };
  return { id: newId(clock), email, ...shown, createdAt: now, updatedAt: now };
}

/** Why a guarded write changed nothing: the member is gone, is another by now, or has to stay. */
async function explainRefusal(ctx: ServiceContext, before: MemberRow): Promise<Conflict> {
  const now = await getMember(ctx, before.organizationId, before.membershipId);
  if (now.role === before.role) return new Conflict(KEEPS_OWNER);
  return new Conflict("The member's role has just changed. Read it again and retry.");
}

/** Whatever touches an owner takes an owner. */
function neededFor(...roles: readonly OrgRole[]): OrgRole {
  return roles.includes("owner") ? "owner" : "admin";
}
