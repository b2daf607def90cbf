import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type FamilyReach, familyOf } from "./family.ts";
import {
  auditPart,
  endPart,
  FAMILY_MEMBERS,
  type FamilyRevocation,
  openFamilyPart,
} from "./family-part.ts";
import { keepsOwner, keepsOwnerKey } from "./member-keys.ts";
import { LAST_OWNER_KEY } from "./model.ts";
import { closePart } from "./revocation-part.ts";

export interface FamilyRoots {
  organizationId: string;
  /** Selects the IDs of keys and sessions. */
  roots: FamilyRevocation["roots"];
  reach: FamilyReach;
}

/** @throws Conflict if no owner's key would remain. */
export async function revokeFamilyOf(
  ctx: ServiceContext,
  { organizationId, roots, reach }: FamilyRoots,
): Promise<void> {
  const { actor, clock, db } = ctx;
  const now = clock.now();
  const ended = await revokeFamily(ctx, {
    organizationId,
    roots,
    reach,
    condition: keepsOwnerKey(organizationId, { column: "id", value: FAMILY_MEMBERS }, now),
    isEverywhere: reach === "switched" || actor.role === "owner",
    now,
    actor,
  });
  if (ended > 0) return;
  const ids = familyOf(roots, organizationId, reach);
  const { keeps } = await keepsOwner(db, organizationId, ids, now);
  if (!keeps) throw LAST_OWNER_KEY;
}

/**
 * Ends a family, and records it. A large one ends in several batches, because all others wait for each; the last
 * follows the family again, so that nothing remains that was made meanwhile. Returns the number of credentials that
 * have ended.
 */
export async function revokeFamily(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
): Promise<number> {
  let count = 0;
  for (let isLast = false; !isLast; ) {
    const { revoked: guarded, ...others } = endPart(ctx.db, revocation);
    const ended = await writeBatch(ctx, {
      first: {
        part: openFamilyPart(ctx.db, revocation),
        audit: auditPart(ctx, revocation),
        ...others,
      },
      guarded,
      effects: { closed: closePart(ctx.db) },
    });
    const { tokens, versions, sessions } = ended.first;
    const revoked = [...ended.guarded, ...tokens];
    const deleted = revoked.map((key) => toRevokedKey(key, ctx.clock));
    await ctx.invalidateKeys([...deleted, ...versions]);
    count += revoked.length + sessions.ended.length;
    isLast = ended.effects.closed.every((part) => part.isLast);
  }
  return count;
}
