import { toTimestamp } from "../../../lib/clock.ts";
import type { Exchanged } from "./model.ts";
import type { TrustRow } from "./store.ts";

export function presentTrust(row: TrustRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    conditions: row.conditions,
    membership_id: row.membershipId ?? undefined,
    pool_id: row.poolId ?? undefined,
    role: row.role ?? undefined,
    scopes: row.scopes?.slice(),
    project_ids: row.projectIds?.slice(),
    environment_ids: row.environmentIds?.slice(),
    ttl_seconds: row.ttlSeconds,
    created_by: { key_id: row.createdByKeyId, membership_id: row.createdByMembershipId },
    created_at: toTimestamp(row.createdAt),
  };
}

export function presentExchanged(exchanged: Exchanged) {
  const { id, type, key, trustId, expiresAt, ttlSeconds } = exchanged;
  return {
    id,
    type,
    key,
    trust_id: trustId,
    expires_at: toTimestamp(expiresAt),
    expires_in: ttlSeconds,
  };
}
