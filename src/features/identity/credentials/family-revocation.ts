import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { familyWays, ROOT } from "./family.ts";
import {
  auditPart,
  type EndingMember,
  endPart,
  type FamilyPart,
  type FamilyRevocation,
  keepsOwner,
  openFamilyPart,
  selectEnding,
} from "./family-part.ts";
import { type Members, selectMembers } from "./family-steps.ts";
import { walkFamily } from "./family-walk.ts";
import { LAST_OWNER_KEY } from "./model.ts";
import { closePart, PART_SIZE } from "./revocation-part.ts";

export type FamilyRoots = Pick<FamilyRevocation, "organizationId" | "roots" | "reach">;

/** @throws Conflict if no owner's key would remain. */
export async function revokeFamilyOf(ctx: ServiceContext, roots: FamilyRoots): Promise<void> {
  const { actor, clock } = ctx;
  const isEverywhere = roots.reach === "switched" || actor.role === "owner";
  const revocation = { ...roots, isEverywhere, isAudited: true, now: clock.now(), actor };
  const condition = keepsOwner(revocation);
  if (!(await revokeFamily(ctx, { ...revocation, condition }))) throw LAST_OWNER_KEY;
}

/**
 * Ends a family, and records it: a small one in one batch, a large one in several, because all others wait for each.
 * Returns false if its condition does not hold.
 * @param requireUnchanged Is called before a large family ends, or if nothing was left.
 */
export async function revokeFamily(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
  requireUnchanged?: () => Promise<unknown>,
): Promise<boolean> {
  const members = selectMembers(revocation.roots.map((id) => [id, ROOT]));
  const whole = await revokePart(ctx, revocation, { members, isWhole: true });
  if (whole?.count) return true;
  await requireUnchanged?.();
  return revokeLargeFamily(ctx, revocation);
}

/**
 * The last walk finds nothing valid, so that nothing remains that was made meanwhile. Roots end once a walk finds nothing
 * else: a trust's keys cannot be named once they have ended.
 */
async function revokeLargeFamily(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
): Promise<boolean> {
  for (;;) {
    const found = await findEnding(ctx, revocation);
    if (found.length === 0) return true;
    const owners = found.filter(({ isOwner }) => isOwner).map(({ id }) => id);
    const others = found.filter(({ degree }) => degree !== ROOT);
    const ending = others.length > 0 ? others : found;
    for (let start = 0; start < ending.length; ) {
      const some = ending.slice(start, start + PART_SIZE);
      const members = selectMembers(some.map(({ id, degree }) => [id, degree]));
      const part = await revokePart(ctx, revocation, { members, isWhole: false, owners });
      if (!part) return false;
      if (part.isLast) start += PART_SIZE;
    }
  }
}

async function findEnding(
  { db }: ServiceContext,
  revocation: FamilyRevocation,
): Promise<EndingMember[]> {
  const found: EndingMember[] = [];
  const { roots, organizationId, reach } = revocation;
  const walk = { roots, organizationId, ways: familyWays(reach) };
  const select = (members: Members) => selectEnding(db, revocation, members);
  for await (const rows of walkFamily(db, walk, select)) found.push(...rows);
  return found;
}

/** Nothing if it does not end. */
async function revokePart(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
  part: FamilyPart,
): Promise<{ isLast: boolean; count: number } | undefined> {
  const { revoked: guarded, ...others } = endPart(ctx.db, revocation);
  const ended = await writeBatch(ctx, {
    first: {
      part: openFamilyPart(ctx.db, revocation, part),
      audit: revocation.isAudited ? auditPart(ctx, revocation) : undefined,
      ...others,
    },
    guarded,
    effects: { closed: closePart(ctx.db) },
  });
  const { tokens, versions, sessions } = ended.first;
  const deleted = [...ended.guarded, ...tokens].map((key) => toRevokedKey(key, ctx.clock));
  await ctx.invalidateKeys([...deleted, ...versions]);
  const count = deleted.length + sessions.ended.length;
  return ended.effects.closed.map((closed) => ({ ...closed, count }))[0];
}
