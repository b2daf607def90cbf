import { type IssuedKey, toRevokedKey } from "../../auth/credentials.ts";
import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { BadInput, Conflict, NotFound, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { lowerOrgRole, type OrgRole, orgRoleReaches } from "../../lib/roles.ts";
import { LAST_OWNER_KEY, requireActive } from "../memberships/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { issueApiKey } from "./credentials.ts";
import type { ApiKeyRow, CreatedKey } from "./store.ts";
import * as store from "./store.ts";

export interface NewKey {
  name: string;
  membershipId: string | undefined;
  role: OrgRole | undefined;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number | undefined;
}

export async function listKeys(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
): Promise<Page<ApiKeyRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  return toPage(page, await store.listKeys(ctx.db, organizationId, page), (row) => row);
}

export async function getKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ApiKeyRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await store.findKey(ctx.db, organizationId, id);
  if (!row) throw new NotFound("API key");
  return row;
}

export async function createKey(
  ctx: ServiceContext,
  organizationId: string,
  input: NewKey,
): Promise<CreatedKey> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  requireFuture(input.expiresAt, ctx.clock.now());
  const membershipId = input.membershipId ?? ctx.actor.membershipId;
  const [membership] = await store.findMembershipRole(ctx.db, organizationId, membershipId);
  if (!membership) throw new NotFound("membership");
  requireActive(membership);
  if (membership.role === "owner" && membershipId !== ctx.actor.membershipId) {
    requireOrgRole(ctx.actor, organizationId, "owner");
  }
  const role = input.role ?? lowerOrgRole(ctx.actor.role, membership.role);
  requireAllowedRole(role, ctx.actor.role, membership.role);
  const issued = await issueApiKey(newId(ctx.clock));
  const values = { organizationId, membershipId, name: input.name, role };
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { api_keys: 1 },
    bytes: bytesOf(input.name),
    bounds: [store.keyCountBound(membershipId)],
  });
  const key = {
    ...newKeyRow(issued, ctx.clock.now()),
    ...values,
    expiresAt: input.expiresAt ?? null,
  };
  const statements = { limits: limits.statement, created: store.insertKey(ctx.db, key) };
  const { created } = await limits.enforce(runBatch(ctx.db, statements));
  const [row] = created;
  if (!row) throw new Error("The batch returned no API key");
  return { row, key: issued.key };
}

export async function revokeKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const key = await getKey(ctx, organizationId, id);
  if (key.role === "owner") requireOrgRole(ctx.actor, organizationId, "owner");
  const [deleted] = await store.deleteKey(ctx.db, organizationId, id, ctx.clock.now());
  if (!deleted) {
    await getKey(ctx, organizationId, id);
    throw new Conflict(LAST_OWNER_KEY);
  }
  await ctx.invalidateKeys([toRevokedKey(deleted, ctx.clock)]);
}

export function newKeyRow({ id, secretHash, lastFour }: IssuedKey, now: number) {
  return {
    id,
    secretHash,
    lastFour,
    version: 1,
    expiresAt: null,
    lastUsedAt: null,
    createdAt: now,
    scopes: null,
    projectIds: null,
    environmentIds: null,
    createdByKeyId: null,
    createdByMembershipId: null,
    trustId: null,
    isOwn: false,
  };
}

/** A key's role is at most that of its creator and that of its membership. */
function requireAllowedRole(role: OrgRole, actorRole: OrgRole, membershipRole: OrgRole): void {
  if (!orgRoleReaches(actorRole, role)) throw Unauthorized.role(role);
  if (orgRoleReaches(membershipRole, role)) return;
  const message = `Send at most the membership's role, which is ${membershipRole}.`;
  throw new BadInput([{ path: "role", message }]);
}

function requireFuture(time: number | undefined, now: number): void {
  if (time !== undefined && time <= now) {
    throw new BadInput([{ path: "expires_at", message: "Send a time in the future." }]);
  }
}
