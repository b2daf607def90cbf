import type { PublicContext } from "../../../context.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { Unauthenticated } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { readJobSource } from "../../../lib/job-source.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { allowsInsecureWebhooks } from "../../../lib/settings.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import type { AuditedAct, OtherActor } from "../../housekeeping/audit/index.ts";
import { insertKeyOfTrust, issueApiKey, newKeyRow, presentApiKey } from "../api-keys/index.ts";
import { insertToken, issueRunnerToken, presentToken } from "../runner-tokens/index.ts";
import { hasAddress, meetsConditions } from "./conditions.ts";
import type { IssuerKeys } from "./issuer-keys.ts";
import { type Exchanged, RECORDED_CLAIMS } from "./model.ts";
import type { TrustOfIssuer, TrustRow } from "./store.ts";
import * as store from "./store.ts";
import { REFUSED, readIssuer, type VerifiedClaims, verifyToken } from "./token.ts";

export interface ExchangeContext extends PublicContext {
  issuers: IssuerKeys;
}

/**
 * Until an issuer's signature is verified, nothing in the reply depends on whether the organization
 * exists. The token must never reach the log or an error.
 */
export async function exchangeToken(
  ctx: ExchangeContext,
  organizationId: string,
  token: string,
): Promise<Exchanged> {
  const issuer = readIssuer(token);
  const candidates = await store.findTrustsOfIssuer(ctx.db, organizationId, issuer);
  if (candidates.length === 0) throw new Unauthenticated(REFUSED.noTrust);
  const { issuers, settings, clock } = ctx;
  const allowsInsecure = allowsInsecureWebhooks(settings);
  const verification = { issuers, issuer, allowsInsecure, now: clock.now() };
  const verified = await verifyToken(token, verification);
  return issue(ctx, findMatch(candidates, verified), verified);
}

/** The oldest trust whose audience and conditions the token has. */
function findMatch(
  candidates: readonly TrustOfIssuer[],
  { claims }: VerifiedClaims,
): TrustOfIssuer {
  const audiences = [claims["aud"]].flat();
  const addressed = candidates.filter(({ audience }) => audiences.includes(audience));
  if (addressed.length === 0) throw new Unauthenticated(REFUSED.audience);
  const match = addressed.find(({ conditions }) => meetsConditions(conditions, claims));
  if (!match) throw new Unauthenticated(REFUSED.conditions);
  return match;
}

async function issue(
  ctx: ExchangeContext,
  trust: TrustOfIssuer,
  verified: VerifiedClaims,
): Promise<Exchanged> {
  const { id: trustId, organizationId, ttlSeconds } = trust;
  const now = ctx.clock.now();
  const expiresAt = now + ttlSeconds * 1000;
  const name = nameOf(trust, verified);
  const claims = recordedClaims(trust, verified);
  const { insert, ...issued } = await newCredential(ctx, trust, { name, now, expiresAt, claims });
  const id = await sha256Hex(JSON.stringify([organizationId, trust.issuer, verified.jti]));
  const used = { id, organizationId, expiresAt: verified.refusedFrom };
  const act = describeExchange(trust, verified, { type: issued.type, id: issued.id, name });
  const actor = { ...actorOf(trust), organizationId };
  const { guarded } = await writeBatch(
    { ...ctx, actor },
    {
      growth: { organizationId, bounds: [store.liveKeyBound(trustId, now)], isTemporary: true },
      first: { used: store.insertUsedToken(ctx.db, trustId, used) },
      guarded: insert,
      acts: [act],
      taken: { "used_tokens.id": new Unauthenticated(REFUSED.repeated) },
    },
  );
  const [row] = guarded;
  if (!row) throw new Unauthenticated(REFUSED.noTrust);
  const presented = "poolId" in row ? presentToken(row) : presentApiKey(row);
  const { poolId } = trust;
  return { ...issued, trustId, expiresAt, ttlSeconds, organizationId, poolId, presented };
}

interface Lifetime {
  /** JSON. */
  claims: string;
  name: string;
  now: number;
  expiresAt: number;
}

/** The creator of the trust is that of its keys: revoking the creator's key can revoke them, too. */
async function newCredential(ctx: ExchangeContext, trust: TrustRow, lifetime: Lifetime) {
  const { name, now, expiresAt, claims } = lifetime;
  const { organizationId, membershipId, poolId } = trust;
  const { createdByKeyId, createdByMembershipId, issuedByKeyId, createdBySessionId } = trust;
  const creator = { createdByKeyId, createdByMembershipId, issuedByKeyId, createdBySessionId };
  const shared = { organizationId, name, expiresAt, rotatedByKeyId: null };
  const lineage = { ...shared, ...creator, trustId: trust.id };
  if (poolId !== null) {
    const { key, ...issued } = await issueRunnerToken(newId(ctx.clock));
    const insert = insertToken(ctx.db, { ...issued, ...lineage, poolId, createdAt: now });
    return { id: issued.id, type: "runner_token" as const, key, insert };
  }
  if (membershipId === null || trust.role === null) {
    throw new Error("The trust has neither a pool nor a membership");
  }
  const issued = await issueApiKey(newId(ctx.clock));
  const { role, scopes, projectIds, environmentIds } = trust;
  const authority = { membershipId, role, scopes, projectIds, environmentIds };
  const row = { ...newKeyRow(issued, now), ...lineage, ...authority, claims };
  return {
    id: issued.id,
    type: "api_key" as const,
    key: issued.key,
    insert: insertKeyOfTrust(ctx.db, row),
  };
}

/**
 * What deployments show of the job, and as `source` what rules compare. An actor that is an e-mail address is left out.
 */
function recordedClaims({ id, issuer }: TrustRow, { claims }: VerifiedClaims): string {
  const texts = Object.entries(RECORDED_CLAIMS).flatMap(([name, sources]) => {
    const value = sources.map((source) => claims[source]).find((each) => typeof each === "string");
    const isKept =
      typeof value === "string" &&
      value.length <= LIMITS.trustConditionLength.value &&
      !(name === "actor" && hasAddress(value));
    return isKept ? [[name, value] as const] : [];
  });
  const source = { issuer, trust_id: id, ...readJobSource(issuer, claims) };
  return JSON.stringify({ ...Object.fromEntries(texts), source });
}

function actorOf(trust: TrustOfIssuer): OtherActor {
  return {
    type: "trust",
    credentialId: trust.id,
    ...(trust.membershipId !== null && { membershipId: trust.membershipId }),
    ...(trust.accountId !== null && { accountId: trust.accountId }),
    creatorKeyId: trust.createdByKeyId,
    creatorMembershipId: trust.createdByMembershipId,
  };
}

/** The trust's name and the token's subject, in one line. */
function nameOf({ name }: TrustRow, { claims }: VerifiedClaims): string {
  const { sub } = claims;
  const subject = typeof sub === "string" && !hasAddress(sub) ? toLine(sub) : "";
  const whole = subject === "" ? name : `${name}: ${subject}`;
  return whole.slice(0, LIMITS.nameLength.value).toWellFormed();
}

function toLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

/** Only the subject, and the token claims that the trust has conditions for. */
function describeExchange(
  { conditions }: TrustRow,
  { claims }: VerifiedClaims,
  target: AuditedAct["target"],
): AuditedAct {
  const names = ["sub", ...Object.keys(conditions)];
  const recorded = names
    .filter((name) => Object.hasOwn(claims, name) && !hasAddress(claims[name]))
    .map((name) => [name, toRecorded(claims[name])]);
  return {
    action: "trust.exchanged",
    target,
    changes: { after: { claims: Object.fromEntries(recorded) } },
  };
}

function toRecorded(claim: unknown): unknown {
  if (typeof claim !== "string") return claim;
  return claim.slice(0, LIMITS.trustConditionLength.value).toWellFormed();
}
