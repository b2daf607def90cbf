import { lineageOf, requireOrgRole, requireScope } from "../../../actor.ts";
import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { lowerOrgRole } from "../../../lib/roles.ts";
import { allowsInsecureWebhooks } from "../../../lib/settings.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import {
  type AuditedAct,
  refuseEscalation,
  requireFullWhereProtected,
  requirePoolAuthority,
} from "../../housekeeping/audit/index.ts";
import { findPool, getPool } from "../../tenancy/index.ts";
import {
  CREATOR_CHANGED,
  requestedNarrowing,
  requireNoEscalation,
  resolveNarrowing,
} from "../api-keys/index.ts";
import {
  closePart,
  endPart,
  type FamilyRevocation,
  openFamilyPart,
  revokeFamily,
} from "../credentials/index.ts";
import { requireActive } from "../memberships/index.ts";
import { withoutAddresses } from "./conditions.ts";
import { IssuerError, issuerProblem, readIssuerKeys } from "./issuer-keys.ts";
import { TRUST_VERSION, type TrustInput } from "./model.ts";
import { presentTrust } from "./presenters.ts";
import type { TrustRow } from "./store.ts";
import * as store from "./store.ts";

export const ONE_TARGET = "Send either membership_id or pool_id.";
const NARROWS_NO_POOL = "Leave this out: the pool decides what its runners can access.";
export const EXPIRING_KEY =
  "A key that expires cannot create a trust, which would outlive it. Use a key without expires_at.";

export async function listTrusts(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<TrustRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  return toPage(page, await store.listTrusts(ctx.db, organizationId, page), (row) => row);
}

export async function getTrust(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<TrustRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await store.findTrust(ctx.db, organizationId, id);
  if (!row) throw new NotFound("trust");
  return row;
}

export async function createTrust(
  ctx: ServiceContext,
  organizationId: string,
  input: TrustInput,
): Promise<TrustRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  requireOneTarget(input);
  await requireLastingKey(ctx, organizationId);
  const { membershipId, poolId } = input;
  const authority =
    membershipId === null
      ? await authorizePool(ctx, organizationId, poolId ?? "")
      : await authorizeKeys(ctx, organizationId, { ...input, membershipId });
  await requireUsableIssuer(ctx, input.issuer);
  const ids = { id: newId(ctx.clock), organizationId };
  const trust = {
    ...ids,
    ...input,
    ...authority,
    ...lineageOf(ctx.actor),
    createdAt: ctx.clock.now(),
  };
  const { name, issuer, audience, conditions } = input;
  return write(ctx, {
    growth: {
      organizationId,
      bytes: bytesOf(name, issuer, audience, JSON.stringify(conditions)),
      bounds: [store.trustCountBound(organizationId)],
    },
    guarded: store.insertTrustOfKey(ctx, trust),
    value: trust,
    acts: [describeCreation(trust)],
    otherwise: () => CREATOR_CHANGED,
  });
}

/**
 * Revokes what the trust has issued, with everything that was created with it, in several batches if it is much, and
 * then deletes the trust.
 */
export async function deleteTrust(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const trust = await getTrust(ctx, organizationId, id);
  await requireTrustAuthority(ctx, trust);
  await requireExpectedVersion(ctx, TRUST_VERSION, () => presentTrust(trust));
  for (let isDeleted = false; !isDeleted; ) isDeleted = await deletePart(ctx, trust);
}

/** The boundaries of a trust for runners are those of its pool. */
async function requireTrustAuthority(ctx: ServiceContext, trust: TrustRow): Promise<void> {
  const { id, name, organizationId, poolId } = trust;
  if (poolId === null) return requireFullWhereProtected(ctx, { type: "trust", id, name }, trust);
  const [pool] = await findPool(ctx.db, organizationId, poolId);
  if (pool) await requirePoolAuthority(ctx, pool);
}

/** Returns whether nothing remains. */
async function deletePart(
  ctx: ServiceContext,
  { organizationId, id, name }: TrustRow,
): Promise<boolean> {
  const revocation: FamilyRevocation = {
    ...{ organizationId, roots: [], reach: "founded", isEverywhere: false, isAudited: false },
    ...{ now: ctx.clock.now(), actor: ctx.actor },
  };
  const members = store.keysOfTrust(id);
  const { deleted, tokens } = store.deleteTrust(ctx.db, organizationId, id);
  const { first, guarded, effects } = await writeBatch(ctx, {
    first: {
      part: openFamilyPart(ctx.db, revocation, { members, isWhole: true }),
      family: endPart(ctx.db, revocation),
      tokens,
    },
    guarded: deleted,
    acts: [{ action: "trust.deleted", target: { type: "trust", id, name } }],
    effects: { closed: closePart(ctx.db) },
  });
  const revoked = [...first.family.revoked, ...first.family.tokens, ...first.tokens];
  const ended = revoked.map((key) => toRevokedKey(key, ctx.clock));
  await ctx.invalidateKeys([...ended, ...first.family.versions]);
  if (guarded.length > 0) return true;
  const [part] = effects.closed;
  if (part?.isLast && revoked.length === 0) throw new NotFound("trust");
  if (part) return false;
  const some = await store.findSomeKeysOfTrust(ctx.db, id);
  await revokeFamily(ctx, { ...revocation, roots: some.map((key) => key.id) });
  return false;
}

function requireOneTarget(input: TrustInput): void {
  if ((input.membershipId === null) === (input.poolId === null)) {
    throw new BadInput([{ path: "membership_id", message: ONE_TARGET }]);
  }
  if (input.poolId === null) return;
  const narrowed = {
    scopes: input.scopes,
    project_ids: input.projectIds,
    environment_ids: input.environmentIds,
  };
  const issues = Object.entries(narrowed)
    .filter(([, value]) => value !== null)
    .map(([path]) => ({ path, message: NARROWS_NO_POOL }));
  if (issues.length > 0) throw new BadInput(issues);
}

/** The rules of creating a key, because the trust gives keys. */
async function authorizeKeys(
  ctx: ServiceContext,
  organizationId: string,
  { membershipId, ...input }: TrustInput & { membershipId: string },
) {
  const [membership] = await store.findMembership(ctx.db, organizationId, membershipId);
  if (!membership) throw new NotFound("membership");
  requireActive(membership);
  const role = lowerOrgRole(ctx.actor.role, membership.role);
  const narrowing = {
    scopes: input.scopes ?? undefined,
    projectIds: input.projectIds ?? undefined,
    environmentIds: input.environmentIds ?? undefined,
  };
  const target = { type: "member", id: membershipId } as const;
  const requested = requestedNarrowing(ctx.actor, narrowing);
  await requireNoEscalation(ctx, target, {
    membership: { id: membershipId, role: membership.role },
    role,
    narrowing: requested,
  });
  await requireFullWhereProtected(ctx, target, requested);
  return { role, ...(await resolveNarrowing(ctx, narrowing)) };
}

/** The rules of creating a runner token, because the trust gives runner tokens. */
async function authorizePool(ctx: ServiceContext, organizationId: string, poolId: string) {
  requireScope(ctx.actor, "runners:write");
  await requirePoolAuthority(ctx, await getPool(ctx, organizationId, poolId));
  return { role: null };
}

/** A trust has no expiry, so it would outlive the key. The keys of trusts always expire. */
async function requireLastingKey(ctx: ServiceContext, organizationId: string): Promise<void> {
  if (ctx.actor.expiresAt === null) return;
  const target = { type: "organization", id: organizationId } as const;
  await refuseEscalation(ctx, target, new Unauthorized(EXPIRING_KEY));
}

async function requireUsableIssuer(ctx: ServiceContext, issuer: string): Promise<void> {
  const allowsInsecure = allowsInsecureWebhooks(ctx.settings);
  const problem = issuerProblem(issuer, allowsInsecure);
  if (problem) throw invalidIssuer(problem);
  try {
    await readIssuerKeys({ fetch: ctx.fetch, allowsInsecure }, issuer);
  } catch (error) {
    if (!(error instanceof IssuerError)) throw error;
    throw invalidIssuer(`The issuer's keys cannot be read. ${error.message}.`);
  }
}

function invalidIssuer(message: string): BadInput {
  return new BadInput([{ path: "issuer", message }]);
}

function describeCreation(trust: TrustRow): AuditedAct {
  const { id, name, org_id, created_by, created_at, ...fields } = presentTrust(trust);
  const conditions = withoutAddresses(fields.conditions);
  return {
    action: "trust.created",
    target: { type: "trust", id, name },
    changes: { after: { ...fields, conditions } },
  };
}
