import { type SQL, sql } from "drizzle-orm";

/**
 * A JSON array of who acts with a key: its membership, and the memberships that have made it and the keys that it
 * descends from, because they may know it. Nobody acts with the key of a trust.
 */
export function makersOf(keyId: string, membershipId: string): SQL {
  return sql`(with recursive wanted(id, membership_id) as (select ${keyId}, ${membershipId}),
    ancestor(id) as (select id from wanted
      union select edge.value from ancestor join api_keys as made on made.id = ancestor.id
        and made.is_own = 0 and made.trust_id is null join ${PARENTS}
      union select edge.value from ancestor join revoked_keys as made on made.id = ancestor.id join ${PARENTS})
    select case when exists (select 1 from api_keys join wanted using (id) where trust_id is not null) then '[]'
      else (select json_group_array(maker) from (select membership_id as maker from wanted
        union select made.created_by_membership_id from ancestor join api_keys as made on made.id = ancestor.id
          where made.is_own = 0 and made.trust_id is null and made.created_by_membership_id is not null
        union select made.created_by_membership_id from ancestor join revoked_keys as made on made.id = ancestor.id
          where made.created_by_membership_id is not null) as item) end)`;
}

const PARENTS = sql`json_each(json_array(made.created_by_key_id, made.issued_by_key_id, made.rotated_by_key_id)) as edge
  on edge.value is not null`;
