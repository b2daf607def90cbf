import { toLastUse, toTimestamp } from "../../../lib/clock.ts";
import type { CreatedToken, TokenRow } from "./store.ts";

export function presentToken(row: TokenRow) {
  const { createdByKeyId: key_id, createdByMembershipId: membership_id } = row;
  return {
    id: row.id,
    pool_id: row.poolId,
    name: row.name,
    last_four: row.lastFour,
    ...presentExpiry(row),
    last_used_at: toLastUse(row),
    created_by: key_id && membership_id ? { key_id, membership_id } : undefined,
    trust_id: row.trustId ?? undefined,
    created_at: toTimestamp(row.createdAt),
  };
}

/** What the audit log has of a new token, too. */
export function presentExpiry({ expiresAt }: Pick<TokenRow, "expiresAt">) {
  return { expires_at: expiresAt === null ? undefined : toTimestamp(expiresAt) };
}

export function presentTokenSecret({ token }: CreatedToken) {
  return { token };
}
