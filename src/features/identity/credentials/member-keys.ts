import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { apiKeys } from "./api-key-table.ts";

/** Changes nothing unless `condition` holds. */
export function incrementKeyVersions(
  db: Database,
  organizationId: string,
  membershipId: string,
  condition: SQL | undefined,
) {
  return db
    .update(apiKeys)
    .set({ keyVersion: sql`${apiKeys.keyVersion} + 1` })
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        eq(apiKeys.membershipId, membershipId),
        condition,
      ),
    )
    .returning({ secretHash: apiKeys.secretHash, version: apiKeys.keyVersion });
}

/** The keys that `incrementKeyVersions` changes, as JSON, for a statement that comes before it. */
export function keysToIncrement(organizationId: string, membershipId: string): SQL {
  return sql`(select json_group_array(
      json_object('secretHash', secret_hash, 'version', version + 1))
    from api_keys where organization_id = ${organizationId} and membership_id = ${membershipId})`;
}

/**
 * Whether the organization can do without the `lost` keys: none of them is an owner's, or an owner has another key
 * with the role `owner` that does not expire. Narrowed keys, and those of trusts and sessions, do not count at all.
 */
export function keepsOwnerKey(
  organizationId: string | SQL,
  lost: { column: "id" | "membership_id"; value: string | SQL },
  now: number,
): SQL {
  const column = sql.raw(lost.column);
  // A cross join reads the owners first: an organization has few owners, and may have many keys.
  const ownerKeys = sql`memberships as owner cross join api_keys as owner_key
    on owner_key.membership_id = owner.id and owner_key.role = 'owner'
      and owner_key.trust_id is null and owner_key.session_id is null and owner_key.scopes is null
      and owner_key.project_ids is null and owner_key.environment_ids is null
    where owner.organization_id = ${organizationId} and owner.role = 'owner'`;
  return sql`(not exists (select 1 from ${ownerKeys} and owner_key.${column} in (${lost.value})
      and (owner_key.expires_at is null or owner_key.expires_at > ${now}))
    or exists (select 1 from ${ownerKeys} and owner_key.${column} not in (${lost.value})
      and owner_key.expires_at is null))`;
}
