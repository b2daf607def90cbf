import { toRevokedKey } from "../../auth/credentials.ts";
import type { ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { endFamily, type FamilyRevocation, recordFamilyRevocation } from "./key-revocation.ts";

/** Ends a family, and records it. Returns the number of credentials that have ended. */
export async function revokeFamily(
  ctx: ServiceContext,
  revocation: FamilyRevocation,
): Promise<number> {
  const ended = await runBatch(ctx.db, {
    audit: recordFamilyRevocation(ctx, revocation),
    ...endFamily(ctx.db, revocation),
  });
  const revoked = [...ended.revoked, ...ended.tokens];
  const deleted = revoked.map((key) => toRevokedKey(key, ctx.clock));
  await ctx.invalidateKeys([...deleted, ...ended.versions]);
  return revoked.length + ended.sessions.ended.length;
}
