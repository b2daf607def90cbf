import { toRevokedKey } from "../../auth/credentials.ts";
import {
  lineageOf,
  requireExpectedVersion,
  requireOrgRole,
  type ServiceContext,
} from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { BadInput, Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type AuditedAct, recordActs } from "../audit/index.ts";
import { recordWithSecrets } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { issueRunnerToken } from "./credentials.ts";
import { presentExpiry, presentToken } from "./presenters.ts";
import { getPool } from "./service.ts";
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
    pool: store.findPool(ctx.db, organizationId, poolId),
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
  await getPool(ctx, organizationId, poolId);
  requireValidExpiry(ctx, expiresAt);
  const expiry = expiresAt ?? ctx.actor.expiresAt;
  const { key: token, values } = await newToken(ctx, { organizationId, poolId, name, expiry });
  const limits = limitToken(ctx, values);
  const { created } = await limits.enforce(
    batch(ctx.db, {
      limits: limits.statement,
      created: store.insertTokenOfKey(ctx, values),
      recorded: await recordWithSecrets(ctx, toRow(values), { token }),
      audit: recordActs(ctx, organizationId, [describeCreation(values)]),
    }),
  );
  const [row] = created;
  if (!row) throw new Conflict(CREATOR_REVOKED);
  return { row, token };
}

/** The old token is revoked, or expires after the overlap. The new one lives as long as it did. */
export async function rotateToken(
  ctx: ServiceContext,
  { organizationId, poolId, id }: TokenIds,
  overlapSeconds: number,
): Promise<CreatedToken> {
  const old = await getToken(ctx, { organizationId, poolId, id });
  if (old.trustId !== null) throw new Conflict(NOT_ROTATED);
  const { name } = old;
  const expiry = successorExpiry(ctx, old);
  const created = await newToken(ctx, { organizationId, poolId, name, expiry });
  const token = created.key;
  const values = { ...created.values, ...familiesOf(ctx, old) };
  const row = toRow(values);
  const { clock } = ctx;
  const hasOverlap = overlapSeconds > 0;
  const time = clock.now() + overlapSeconds * 1000;
  const limits = hasOverlap ? limitToken(ctx, values) : undefined;
  const changedKeys = hasOverlap ? store.changedKeyOf(old) : [toRevokedKey(old, clock)];
  const writing = batch(ctx.db, {
    limits: limits?.statement,
    retired: hasOverlap
      ? store.expireToken(ctx, old, { successor: values, time })
      : store.deleteRotatedToken(ctx, old, values),
    recorded: await recordWithSecrets(ctx, row, { token }, { changedKeys }),
    audit: recordActs(ctx, organizationId, [describeRotation(old, values, overlapSeconds)]),
    successor: store.insertSuccessor(ctx.db, values),
  });
  const { retired } = await (limits ? limits.enforce(writing) : writing);
  if (retired.length === 0) {
    await getToken(ctx, { organizationId, poolId, id });
    throw new Conflict(CREATOR_REVOKED);
  }
  await ctx.invalidateKeys(hasOverlap ? retired : retired.map((key) => toRevokedKey(key, clock)));
  return { row, token };
}

export async function revokeToken(ctx: ServiceContext, ids: TokenIds): Promise<void> {
  const { organizationId } = ids;
  const token = await getToken(ctx, ids);
  await requireExpectedToken(ctx, token);
  const { deleted } = await batch(ctx.db, {
    deleted: store.deleteToken(ctx, token),
    audit: recordActs(ctx, organizationId, [describeRevocation(token)]),
  });
  if (deleted.length === 0) {
    await requireExpectedToken(ctx, await getToken(ctx, ids));
    throw new NotFound("runner token");
  }
  await ctx.invalidateKeys(deleted.map((key) => toRevokedKey(key, ctx.clock)));
}

async function requireExpectedToken(ctx: ServiceContext, token: TokenRow): Promise<void> {
  await requireExpectedVersion(ctx, token.version, () => presentToken(token));
}

interface TokenIds {
  organizationId: string;
  poolId: string;
  id: string;
}

export async function getToken(ctx: ServiceContext, ids: TokenIds): Promise<TokenRow> {
  const { organizationId, poolId, id } = ids;
  requireOrgRole(ctx.actor, organizationId, "admin");
  const { pool, tokens } = await batch(ctx.db, {
    pool: store.findPool(ctx.db, organizationId, poolId),
    tokens: store.findToken(ctx.db, organizationId, poolId, id),
  });
  const [token] = tokens;
  if (pool.length === 0 || !token) throw new NotFound("runner token");
  return token;
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

function limitToken(ctx: ServiceContext, { organizationId, poolId, name }: NewToken) {
  return limitGrowth(ctx, {
    organizationId,
    records: { runner_tokens: 1 },
    bytes: bytesOf(name),
    bounds: [store.tokenCountBound(poolId)],
  });
}

/** That of the old token, and that of the key that rotates it. */
function familiesOf({ actor }: ServiceContext, old: TokenRow) {
  return {
    issuedByKeyId: old.issuedByKeyId ?? old.createdByKeyId,
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
  const problem = expiresAt <= clock.now() ? "Send a time in the future." : TOKEN_OUTLIVES_KEY;
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
