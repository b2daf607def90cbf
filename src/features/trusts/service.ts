import { toRevokedKey } from "../../auth/credentials.ts";
import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { type ApiError, BadInput, Conflict, NotFound, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { lowerOrgRole, type OrgRole } from "../../lib/roles.ts";
import { revokeKeys } from "../api-keys/index.ts";
import { type AuditedAct, recordActs, recordRefusal } from "../audit/index.ts";
import { getPool } from "../runner-pools/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { findExcess } from "./authority.ts";
import { IssuerError, issuerProblem, readIssuerKeys } from "./issuer-keys.ts";
import type { TrustInput } from "./model.ts";
import type { TrustRow } from "./store.ts";
import * as store from "./store.ts";

export const ONE_TARGET = "Send either membership_id or pool_id.";
export const NARROWS_NO_POOL = "Leave this out: the pool decides what its runners can access.";
export const NOT_BY_TRUST =
  "A key of a trust cannot create a trust. Use a key that was created by a member.";
export const PENDING_MEMBERSHIP =
  "The membership is pending: its person has to accept the invitation first.";

export async function listTrusts(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
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
  const role = await authorizeTarget(ctx, organizationId, input);
  await requireBoundaries(ctx, organizationId, input);
  await requireUsableIssuer(ctx, input.issuer);
  const { keyId: createdByKeyId, membershipId: createdByMembershipId } = ctx.actor;
  const createdBy = { createdByKeyId, createdByMembershipId };
  const ids = { id: newId(ctx.clock), organizationId };
  const trust = { ...ids, ...input, role, ...createdBy, createdAt: ctx.clock.now() };
  const { name, issuer, audience, conditions } = input;
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: bytesOf(name, issuer, audience, JSON.stringify(conditions)),
    bounds: [store.trustCountBound(organizationId)],
  });
  await limits.enforce(
    runBatch(ctx.db, {
      limits: limits.statement,
      created: store.insertTrust(ctx.db, trust),
      recorded: recordActs(ctx, organizationId, [describeCreation(trust)]),
    }),
  );
  return trust;
}

/** Revokes what the trust has issued, with everything that was created with it. */
export async function deleteTrust(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const { name } = await getTrust(ctx, organizationId, id);
  const revocation = {
    organizationId,
    keys: store.keysOfTrust(id),
    descendants: true,
    now: ctx.clock.now(),
    actor: ctx.actor,
  };
  const target = { type: "trust", id, name } as const;
  const {
    revoked,
    derivedTokens = [],
    tokens,
    deleted,
  } = await runBatch(ctx.db, {
    ...revokeKeys(ctx.db, revocation),
    ...store.deleteTrust(ctx, organizationId, id),
    recorded: recordActs(ctx, organizationId, [{ action: "trust.deleted", target }]),
  });
  await ctx.invalidateKeys(
    [...revoked, ...derivedTokens, ...tokens].map((key) => toRevokedKey(key, ctx.clock)),
  );
  if (deleted.length === 0) throw new NotFound("trust");
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

/** The rules of creating a key. Returns the role that the keys may have; null for a pool. */
async function authorizeTarget(
  ctx: ServiceContext,
  organizationId: string,
  input: TrustInput,
): Promise<OrgRole | null> {
  const { membershipId, poolId } = input;
  const [key] = await store.findTrustOfKey(ctx.db, ctx.actor.keyId);
  const id = membershipId ?? poolId ?? "";
  const target = { type: membershipId === null ? "runner_pool" : "member", id } as const;
  const refuse = async (error: ApiError) => {
    await recordRefusal(ctx, organizationId, { action: "escalation.refused", target });
    throw error;
  };
  if (key?.trustId) await refuse(new Unauthorized(NOT_BY_TRUST));
  if (poolId !== null) await getPool(ctx, organizationId, poolId);
  if (membershipId === null) return null;
  const [membership] = await store.findMembership(ctx.db, organizationId, membershipId);
  if (!membership) throw new NotFound("membership");
  if (membership.status !== "active") throw new Conflict(PENDING_MEMBERSHIP);
  const isOwners = membership.role === "owner" && membershipId !== ctx.actor.membershipId;
  if (isOwners && ctx.actor.role !== "owner") await refuse(Unauthorized.role("owner"));
  const excess = findExcess(ctx.actor, input);
  if (excess) await refuse(new Unauthorized(excess));
  return lowerOrgRole(ctx.actor.role, membership.role);
}

async function requireBoundaries(
  { db }: ServiceContext,
  organizationId: string,
  { projectIds, environmentIds }: TrustInput,
): Promise<void> {
  const [foundProjects, foundEnvironments] = await Promise.all([
    projectIds && store.findProjects(db, organizationId, projectIds),
    environmentIds && store.findEnvironments(db, organizationId, environmentIds, projectIds),
  ]);
  if (foundProjects && foundProjects.length < (projectIds?.length ?? 0)) {
    throw new NotFound("project in the organization");
  }
  if (foundEnvironments && foundEnvironments.length < (environmentIds?.length ?? 0)) {
    throw new NotFound("environment in the organization");
  }
}

async function requireUsableIssuer(ctx: ServiceContext, issuer: string): Promise<void> {
  const allowsInsecure = ctx.allowsInsecureWebhooks;
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
  const { id, name, issuer, audience, conditions, ttlSeconds } = trust;
  const target = { membership_id: trust.membershipId, pool_id: trust.poolId, role: trust.role };
  const { scopes, projectIds: project_ids, environmentIds: environment_ids } = trust;
  const after = { issuer, audience, conditions, ...target, scopes, project_ids, environment_ids };
  return {
    action: "trust.created",
    target: { type: "trust", id, name },
    changes: { after: { ...after, ttl_seconds: ttlSeconds } },
  };
}
