import { lineageOf, requireOwnOrganization } from "../../../actor.ts";
import { type IssuedKey, toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { lowerOrgRole, type OrgRole, orgRoleReaches } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { requireFullWhereProtected } from "../../housekeeping/audit/index.ts";
import {
  auditRevocation,
  closePart,
  type DescendantsOption,
  findGreatest,
  LAST_OWNER_KEY,
  revokeFamily,
  revokeKeys,
} from "../credentials/index.ts";
import { requireActive } from "../memberships/index.ts";
import {
  authorizeKey,
  type NarrowingInput,
  requestedNarrowing,
  requireAccessOf,
  requireKeyAdmin,
  requireNoEscalation,
  resolveNarrowing,
  seesOnlyOwnKeys,
} from "./authority.ts";
import { issueApiKey } from "./credentials.ts";
import { isByPolicy, resolveExpiry } from "./expiry.ts";
import { CREATOR_CHANGED, HAS_DESCENDANTS, type KeyStatus } from "./model.ts";
import { presentApiKey, presentAuthority, presentKeyOrTombstone, versionOf } from "./presenters.ts";
import * as revocations from "./revocation-store.ts";
import type { ApiKeyRow, CreatedKey, KeyOrTombstone, RevokedKeyRow } from "./store.ts";
import * as store from "./store.ts";

export interface NewKey {
  name: string;
  membershipId: string | undefined;
  role: OrgRole | undefined;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number | undefined;
  narrowing: NarrowingInput;
}

export async function listKeys(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest & { status: KeyStatus },
): Promise<Page<KeyOrTombstone>> {
  const { db, actor } = ctx;
  requireOwnOrganization(actor, organizationId);
  const membershipId = seesOnlyOwnKeys(actor) ? actor.membershipId : undefined;
  const rows =
    page.status === "active"
      ? await store.listKeys(db, organizationId, membershipId, page)
      : await store.listRevokedKeys(db, organizationId, membershipId, page);
  return toPage<KeyOrTombstone>(page, rows, (row) => row);
}

export async function getKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<KeyOrTombstone> {
  requireOwnOrganization(ctx.actor, organizationId);
  const { active, revoked } = await batch(
    ctx.db,
    store.findKeyOrTombstone(ctx.db, organizationId, id),
  );
  return authorizeKey<KeyOrTombstone>(ctx.actor, active[0] ?? revoked[0]);
}

/** Throws `NotFound` for a revoked key. */
export async function requireValidKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ApiKeyRow> {
  const key = await getKey(ctx, organizationId, id);
  if (isRevoked(key)) throw new NotFound("API key");
  return key;
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
export async function requireExpected(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ApiKeyRow> {
  const key = await requireValidKey(ctx, organizationId, id);
  await requireAccessOf(ctx, key);
  await requireExpectedVersion(ctx, key.version, () => presentApiKey(key));
  return key;
}

export function isRevoked(key: KeyOrTombstone): key is RevokedKeyRow {
  return "revokedAt" in key;
}

export async function createKey(
  ctx: ServiceContext,
  organizationId: string,
  input: NewKey,
): Promise<CreatedKey> {
  const { actor, clock } = ctx;
  requireKeyAdmin(actor, organizationId);
  const { membership, creator, rules } = await readCreation(
    ctx,
    organizationId,
    input.membershipId,
  );
  const role = input.role ?? lowerOrgRole(actor.role, membership.role);
  const narrowing = requestedNarrowing(actor, input.narrowing);
  const member = { type: "member", id: membership.id } as const;
  await requireNoEscalation(ctx, member, { membership, role, narrowing });
  if (membership.id !== actor.membershipId) await requireFullWhereProtected(ctx, member, narrowing);
  requireRoleOfMembership(role, membership.role);
  const issued = await issueApiKey(newId(clock));
  const expiresAt = resolveExpiry(input.expiresAt, rules);
  const key = {
    ...newKeyRow(issued, rules.now),
    ...lineageOf(actor),
    organizationId,
    membershipId: membership.id,
    name: input.name,
    role,
    expiresAt,
    expiresByPolicy: isByPolicy(input.expiresAt, expiresAt, creator),
    ...(await resolveNarrowing(ctx, input.narrowing)),
    isOwn: actor.isOwnKey && membership.id === actor.membershipId,
  };
  const target = { type: "api_key", id: key.id, name: key.name } as const;
  const changes = { after: presentAuthority(key) };
  return write(ctx, {
    growth: {
      organizationId,
      records: { api_keys: 1 },
      bytes: bytesOf(input.name),
      bounds: [store.keyCountBound(membership.id)],
    },
    guarded: store.insertDescendant(ctx, key),
    returns: store.findKey(ctx.db, organizationId, key.id),
    secrets: { key: issued.key },
    acts: [{ action: "api_key.created", target, changes }],
    otherwise: () => CREATOR_CHANGED,
  });
}

/** What the rules of a new key depend on. */
async function readCreation(
  { db, actor, clock }: ServiceContext,
  organizationId: string,
  membershipId = actor.membershipId,
) {
  const { memberships, creators, policies } = await batch(db, {
    memberships: store.findMembership(db, organizationId, membershipId),
    creators: store.findCaller(db, actor),
    policies: store.findMaximumAge(db, organizationId),
  });
  const [membership] = memberships;
  if (!membership) throw new NotFound("membership");
  requireActive(membership);
  const [creator] = creators;
  const rules = {
    now: clock.now(),
    latest: creator?.expiresAt ?? null,
    maximumAgeSeconds: policies[0]?.maximumAgeSeconds ?? null,
  };
  return { membership, creator, rules };
}

/** A revoked key may be named again, to revoke what descends from it. */
export async function revokeKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  descendants: DescendantsOption | undefined,
): Promise<void> {
  const key = await getKey(ctx, organizationId, id);
  if (isRevoked(key) && descendants !== "revoke") throw new NotFound("API key");
  await requireAccessOf(ctx, key);
  await requireExpectedVersion(ctx, versionOf(key), () => presentKeyOrTombstone(key));
  if (descendants === "revoke") return revokeWithFamily(ctx, key);
  const families = descendants ? (["any"] as const) : (["none", "new"] as const);
  for (const family of families) {
    if (await revokeAlone(ctx, key, family)) return;
    await requireExpected(ctx, organizationId, id);
    const hasFamily =
      !descendants && (await findGreatest(ctx.db, revocations.familyWalk(ctx, key)));
    if (hasFamily) throw HAS_DESCENDANTS;
  }
  throw LAST_OWNER_KEY;
}

/** Returns whether the key has ended. */
async function revokeAlone(
  ctx: ServiceContext,
  key: KeyOrTombstone,
  family: Parameters<typeof revocations.openKeyPart>[2],
): Promise<boolean> {
  const revocation = revocations.revocationOf(ctx, key);
  const { revoked, ...others } = revokeKeys(ctx.db, revocation);
  const { guarded } = await writeBatch(ctx, {
    first: {
      part: revocations.openKeyPart(ctx, key, family),
      audit: auditRevocation(ctx, revocation),
      ...others,
    },
    guarded: revoked,
    effects: { closed: closePart(ctx.db) },
  });
  await ctx.invalidateKeys(guarded.map((each) => toRevokedKey(each, ctx.clock)));
  return guarded.length > 0;
}

/** Only an owner revokes what the family has made in other organizations. */
async function revokeWithFamily(ctx: ServiceContext, key: KeyOrTombstone): Promise<void> {
  const requireUnchanged = async () =>
    isRevoked(key) || requireExpected(ctx, key.organizationId, key.id);
  const revocation = revocations.familyRevocationOf(ctx, key);
  if (!(await revokeFamily(ctx, revocation, requireUnchanged))) throw LAST_OWNER_KEY;
}

export function newKeyRow({ id, secretHash, lastFour }: IssuedKey, now: number) {
  return {
    id,
    secretHash,
    lastFour,
    keyVersion: 1,
    expiresAt: null,
    lastUsedAt: null,
    createdAt: now,
    scopes: null,
    projectIds: null,
    environmentIds: null,
    createdByKeyId: null,
    createdByMembershipId: null,
    issuedByKeyId: null,
    createdBySessionId: null,
    rotatedByKeyId: null,
    trustId: null,
    claims: null,
    sessionId: null,
    replacedByKeyId: null,
    isOwn: false,
    expiresByPolicy: false,
    version: 1,
  };
}

function requireRoleOfMembership(role: OrgRole, membershipRole: OrgRole): void {
  if (orgRoleReaches(membershipRole, role)) return;
  const message = `Send at most the membership's role, which is ${membershipRole}.`;
  throw new BadInput([{ path: "role", message }]);
}
