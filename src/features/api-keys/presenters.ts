import { toTimestamp } from "../../lib/clock.ts";
import type { ApiKeyRow, CreatedKey } from "./store.ts";

export function presentApiKey(row: ApiKeyRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    membership_id: row.membershipId,
    name: row.name,
    role: row.role,
    last_four: row.lastFour,
    expires_at: row.expiresAt === null ? undefined : toTimestamp(row.expiresAt),
    last_used_at: row.lastUsedAt === null ? undefined : toTimestamp(row.lastUsedAt),
    created_at: toTimestamp(row.createdAt),
  };
}

export function presentCreatedApiKey({ row, key }: CreatedKey) {
  return { ...presentApiKey(row), key };
}
