import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/**
 * A JSON array of who acts with a key: its membership, and the memberships that have made it and the keys that it
 * descends from, because they may know it. Nobody acts with a trust's key: whoever made the trust decides what gets it.
 */
export function makersOf(keyId: string, membershipId: string): SQL {
  return sql`(with recursive wanted(id, membership_id) as (select ${keyId}, ${membershipId}),
    ancestor(id) as (select id from wanted
      union select edge.value from ancestor join api_keys as made on made.id = ancestor.id
        and made.is_own = 0 join ${PARENTS}
      union select edge.value from ancestor join revoked_keys as made on made.id = ancestor.id join ${PARENTS})
    select json_group_array(maker) from (select membership_id as maker from wanted where not exists (
          select 1 from api_keys where api_keys.id = wanted.id and api_keys.trust_id is not null)
        union select made.created_by_membership_id from ancestor join api_keys as made on made.id = ancestor.id
          where made.is_own = 0 and made.created_by_membership_id is not null
        union select made.created_by_membership_id from ancestor join revoked_keys as made on made.id = ancestor.id
          where made.created_by_membership_id is not null) as item)`;
}

const PARENTS = sql`json_each(json_array(made.created_by_key_id, made.issued_by_key_id, made.rotated_by_key_id)) as edge
  on edge.value is not null`;

/**
 * Whether a sign-in has proven who the member is, or none of these members has added or invited it: neither directly, nor
 * whoever did. A link proves only what whoever sent it may have, too.
 * @param others A JSON array.
 */
export function isVerifiedAgainst(membershipId: SQLWrapper | string, others: SQL): SQL {
  return sql`(exists (select 1 from memberships as proven
      where proven.id = ${membershipId} and proven.signed_in_at is not null)
    or not exists (with recursive origin(id) as (select ${membershipId} union select edge.value from origin ${MADE})
      select 1 from origin join json_each(${others}) as other on other.value = origin.id
      where origin.id <> ${membershipId}))`;
}

const OF_MEMBER = ["added_by_key_id", "added_by_session_id"];
const OF_KEY = [
  "membership_id",
  "created_by_membership_id",
  "created_by_key_id",
  "issued_by_key_id",
  "rotated_by_key_id",
  "created_by_session_id",
];
const OF_SESSION = ["membership_id", "key_id", "created_by_session_id"];

/** What each row comes from. */
const ORIGINS = {
  memberships: OF_MEMBER,
  removed_memberships: OF_MEMBER,
  api_keys: OF_KEY,
  revoked_keys: OF_KEY,
  sessions: OF_SESSION,
  ended_sessions: OF_SESSION,
};

/** The row that an ID is of is in one of the tables. D1 refuses a union of so many. */
const MADE = sql.raw(
  `${Object.keys(ORIGINS)
    .map((table) => `left join ${table} as in_${table} on in_${table}.id = origin.id`)
    .join(" ")} join json_each(json_array(${Object.entries(ORIGINS)
    .flatMap(([table, columns]) => columns.map((name) => `in_${table}.${name}`))
    .join(", ")})) as edge on edge.value is not null`,
);
