import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type FamilyReach, familyOf } from "./family.ts";
import { auditFamilyRevocation, endFamily, type FamilyRevocation } from "./key-revocation.ts";
import { guardedFamily, keepsOwner } from "./member-keys.ts";
import { LAST_OWNER_KEY } from "./model.ts";

export interface FamilyRoots {
  organizationId: string;
  /** Selects the IDs of keys and sessions. */
  roots: Parameters<typeof familyOf>[0];
  reach: FamilyReach;
}

/** @throws Conflict if no owner's key would remain. */
export async function revokeFamilyOf(
  ctx: ServiceContext,
  { organizationId, roots, reach }: FamilyRoots,
): Promise<void> {
  const { actor, clock, db } = ctx;
  const now = clock.now();
  const ids = familyOf(roots, organizationId, reach);
  const ended = await revokeFamily(ctx, {
    organizationId,
    family: guardedFamily(organizationId, ids, now),
    isEverywhere: reach === "switched" || actor.role === "owner",
    now,
    actor,
  });
  if (ended > 0) return;
  const { keeps } = await keepsOwner(db, organizationId, ids, now);
  if (!keeps) throw LAST_OWNER_KEY;
}

/** Ends a family, and records it. Returns the number of credentials that have ended. */
export async function revokeFamily(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
): Promise<number> {
  const { revoked: guarded, ...others } = endFamily(ctx.db, revocation);
  const audit = auditFamilyRevocation(ctx, revocation);
  const ended = await writeBatch(ctx, { first: { audit, ...others }, guarded });
  const { tokens, versions, sessions } = ended.first;
  const revoked = [...ended.guarded, ...tokens];
  const deleted = revoked.map((key) => toRevokedKey(key, ctx.clock));
  await ctx.invalidateKeys([...deleted, ...versions]);
  return revoked.length + sessions.ended.length;
}
