import { toLastUse, toTimestamp } from "../../../lib/clock.ts";
import { presentKeyOwner } from "../credentials/index.ts";
import type { Narrowing } from "./narrowing.ts";
import type { ApiKeyRow, CreatedKey, KeyOrTombstone, RevokedKeyRow } from "./store.ts";

export function presentApiKey(row: ApiKeyRow) {
  return {
    ...presentCommon(row),
    ...presentAuthority(row),
    last_used_at: toLastUse(row),
  };
}

export function presentKeyOrTombstone(row: KeyOrTombstone) {
  return "revokedAt" in row ? presentRevokedKey(row) : presentApiKey(row);
}

/** For its ETag. Nobody changes a revoked key. */
export function versionOf(row: KeyOrTombstone): number {
  return "revokedAt" in row ? 1 : row.version;
}

export function presentSecretKey({ key }: Pick<CreatedKey, "key">) {
  return { key };
}

export function presentCreatedApiKey({ row, key }: CreatedKey) {
  return { ...presentApiKey(row), key };
}

/** What the audit log has of a new key, too. */
export function presentAuthority(row: AuthorityRow) {
  return { membership_id: row.membershipId, role: row.role, ...presentNarrowing(row) };
}

/** What narrows a key, as the audit log has it, too. */
export function presentNarrowing(row: Pick<ApiKeyRow, "expiresAt"> & Narrowing) {
  return {
    scopes: row.scopes?.slice(),
    project_ids: row.projectIds?.slice(),
    environment_ids: row.environmentIds?.slice(),
    expires_at: row.expiresAt === null ? undefined : toTimestamp(row.expiresAt),
  };
}

export function presentKeyPolicy({ maximumAgeSeconds }: { maximumAgeSeconds: number | null }) {
  return { max_age_seconds: maximumAgeSeconds ?? undefined };
}

function presentRevokedKey(row: RevokedKeyRow) {
  return {
    ...presentCommon(row),
    revoked_at: toTimestamp(row.revokedAt),
    revoked_by: presentCreator(row.revokedByKeyId, row.revokedByMembershipId),
  };
}

type AuthorityRow = Pick<ApiKeyRow, "membershipId" | "role" | "expiresAt"> & Narrowing;

function presentCommon(row: KeyOrTombstone) {
  return {
    id: row.id,
    org_id: row.organizationId,
    membership_id: row.membershipId,
    owner: presentKeyOwner(row.owner),
    name: row.name,
    role: row.role,
    last_four: row.lastFour,
    created_by: presentCreator(row.createdByKeyId, row.createdByMembershipId),
    created_at: toTimestamp(row.createdAt),
  };
}

function presentCreator(keyId: string | null, membershipId: string | null) {
  if (keyId === null && membershipId === null) return undefined;
  return { key_id: keyId ?? undefined, membership_id: membershipId ?? undefined };
}
