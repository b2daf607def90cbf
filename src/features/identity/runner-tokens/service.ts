import { lineageOf, requireOrgRole } from "../../../actor.ts";
import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, Conflict, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { IN_THE_PAST } from "../../../lib/time-messages.ts";
import { write } from "../../../writes/write.ts";
import { type AuditedAct, requirePoolAuthority } from "../../housekeeping/audit/index.ts";
import type { Growth } from "../../housekeeping/usage/index.ts";
import { findPool, getPool } from "../../tenancy/index.ts";
import { issueRunnerToken } from "./credentials.ts";
import { presentExpiry, presentToken } from "./presenters.ts";
import type { CreatedToken, NewToken, TokenRow } from "./store.ts";
import * as store from "./store.ts";

export const CREATOR_REVOKED =
  "The key that creates the token was just revoked, or has less now. Retry.";

export const NOT_ROTATED =
  "The token belongs to a trust. Exchange another token of its issuer instead: POST /v1/oidc/token.";

export const TOKEN_OUTLIVES_KEY = "Send a time that is not after the expiry of your own key.";

export async function listTokens(
  ctx: ServiceContext,
  organizationId: string,
  poolId: string,
  page: PageRequest,
): Promise<Page<TokenRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const { pool, tokens } = await batch(ctx.db, {
    pool: findPool(ctx.db, organizationId, poolId),
    tokens: store.listTokens(ctx.db, organizationId, poolId, page),
  });
  if (pool.length === 0) throw new NotFound("runner pool");
  return toPage(page, tokens, (row) => row);
}

export async function createToken(
  ctx: ServiceContext,
  organizationId: string,
  poolId: string,
  { name, expiresAt }: { name: string; expiresAt: number | undefined },
): Promise<CreatedToken> {
  await requirePoolAuthority(ctx, await getPool(ctx, organizationId, poolId));
  requireValidExpiry(ctx, expiresAt);
  const expiry = expiresAt ?? ctx.actor.expiresAt;
  const { key: token, values } = await newToken(ctx, { organizationId, poolId, name, expiry });
  return write(ctx, {
    growth: growthOf(values),
    guarded: store.insertTokenOfKey(ctx, values),
    value: toRow(values),
    secrets: { token },
    acts: [describeCreation(values)],
    otherwise: () => new Conflict(CREATOR_REVOKED),
  });
}

/** The old token is revoked, or expires after the overlap. The new one lives as long as it did. */
export async function rotateToken(
  ctx: ServiceContext,
  { organizationId, poolId, id }: TokenIds,
  overlapSeconds: number,
): Promise<CreatedToken> {
  const { pool, token: old } = await findToken(ctx, { organizationId, poolId, id });
  await requirePoolAuthority(ctx, pool);
  if (old.trustId !== null) throw new Conflict(NOT_ROTATED);
  const { name } = old;
  const expiry = successorExpiry(ctx, old);
  const created = await newToken(ctx, { organizationId, poolId, name, expiry });
  const token = created.key;
  const values = { ...created.values, ...familiesOf(ctx, old) };
  const hasOverlap = overlapSeconds > 0;
  const time = ctx.clock.now() + overlapSeconds * 1000;
  const retired = hasOverlap
    ? store.expireToken(ctx, old, { successor: values, time })
    : store.deleteRotatedToken(ctx, old, values);
  return write(ctx, {
    ...(hasOverlap && { growth: growthOf(values) }),
    guarded: retired,
    also: { successor: store.insertSuccessor(ctx.db, values, retired) },
    value: toRow(values),
    secrets: { token },
    stored: { changedKeys: hasOverlap ? store.changedKeyOf(old) : [toRevokedKey(old, ctx.clock)] },
    acts: [describeRotation(old, values, overlapSeconds)],
    reread: () => getToken(ctx, { organizationId, poolId, id }),
    otherwise: () => new Conflict(CREATOR_REVOKED),
    committed: (_, changed) =>
      ctx.invalidateKeys(hasOverlap ? changed : changed.map((key) => toRevokedKey(key, ctx.clock))),
  });
}

export async function revokeToken(ctx: ServiceContext, ids: TokenIds): Promise<void> {
  const token = await requireExpected(ctx, ids);
  await write(ctx, {
    guarded: store.deleteToken(ctx, token),
    acts: [describeRevocation(token)],
    reread: () => requireExpected(ctx, ids),
    otherwise: () => new NotFound("runner token"),
    committed: (_, deleted) =>
      ctx.invalidateKeys(deleted.map((key) => toRevokedKey(key, ctx.clock))),
  });
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, ids: TokenIds): Promise<TokenRow> {
  const token = await getToken(ctx, ids);
  await requireExpectedVersion(ctx, token.version, () => presentToken(token));
  return token;
}

interface TokenIds {
  organizationId: string;
  poolId: string;
  id: string;
}

export async function getToken(ctx: ServiceContext, ids: TokenIds): Promise<TokenRow> {
  return (await findToken(ctx, ids)).token;
}

async function findToken(ctx: ServiceContext, ids: TokenIds) {
  const { organizationId, poolId, id } = ids;
  requireOrgRole(ctx.actor, organizationId, "admin");
  const { pools, tokens } = await batch(ctx.db, {
    pools: findPool(ctx.db, organizationId, poolId),
    tokens: store.findToken(ctx.db, organizationId, poolId, id),
  });
  const [pool] = pools;
  const [token] = tokens;
  if (!pool || !token) throw new NotFound("runner token");
  return { pool, token };
}

function toRow(token: NewToken): TokenRow {
  return { ...token, version: 1, lastUsedAt: null };
}

interface NewTokenInput {
  organizationId: string;
  poolId: string;
  name: string;
  expiry: number | null;
}

async function newToken(
  { actor, clock }: ServiceContext,
  { expiry, ...fields }: NewTokenInput,
): Promise<{ key: string; values: NewToken }> {
  const { key, ...issued } = await issueRunnerToken(newId(clock));
  const values = {
    ...issued,
    ...fields,
    createdAt: clock.now(),
    expiresAt: expiry,
    ...lineageOf(actor),
    rotatedByKeyId: null,
    trustId: null,
  };
  return { key, values };
}

function growthOf({ organizationId, poolId, name }: NewToken): Growth {
  return {
    organizationId,
    records: { runner_tokens: 1 },
    bytes: bytesOf(name),
    bounds: [store.tokenCountBound(poolId)],
  };
}

/** That of the old token, and that of the key that rotates it. */
function familiesOf({ actor }: ServiceContext, old: TokenRow) {
  return {
    issuedByKeyId: old.issuedByKeyId,
    createdBySessionId: actor.session?.id ?? old.createdBySessionId,
    rotatedByKeyId: actor.keyId,
  };
}

/** As long from now as the old token was valid, but never longer than the key that rotates it. */
function successorExpiry({ actor, clock }: ServiceContext, old: TokenRow): number | null {
  const lifetime = old.expiresAt === null ? null : old.expiresAt - old.createdAt;
  const times = [lifetime === null ? null : clock.now() + lifetime, actor.expiresAt];
  const ends = times.filter((time) => time !== null);
  return ends.length > 0 ? Math.min(...ends) : null;
}

function requireValidExpiry({ actor, clock }: ServiceContext, expiresAt: number | undefined): void {
  if (expiresAt === undefined) return;
  const problem = expiresAt <= clock.now() ? IN_THE_PAST : TOKEN_OUTLIVES_KEY;
  const isTooLate = actor.expiresAt !== null && expiresAt > actor.expiresAt;
  if (expiresAt > clock.now() && !isTooLate) return;
  throw new BadInput([{ path: "expires_at", message: problem }]);
}

function describeCreation(token: NewToken): AuditedAct {
  const after = { pool_id: token.poolId, ...presentExpiry(token) };
  return { action: "runner_token.created", target: targetOf(token), changes: { after } };
}

function describeRotation(old: TokenRow, token: NewToken, overlapSeconds: number): AuditedAct {
  const after = { id: token.id, overlap_seconds: overlapSeconds, ...presentExpiry(token) };
  return { action: "runner_token.rotated", target: targetOf(old), changes: { after } };
}

function describeRevocation(token: TokenRow): AuditedAct {
  const before = { pool_id: token.poolId };
  return { action: "runner_token.revoked", target: targetOf(token), changes: { before } };
}

function targetOf({ id, name }: NewToken) {
  return { type: "runner_token", id, name } as const;
}
