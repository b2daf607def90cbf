import { type SQL, sql } from "drizzle-orm";

/** How far a family is followed to other organizations. */
export type FamilyReach =
  /** To those that it has founded, by what an owner revokes. */
  | "founded"
  /** Also to those that sessions have switched to, by what the person revokes. */
  | "switched";

/**
 * Selects the IDs of keys and sessions, and of all keys, sessions and memberships that were made with
 * them, ended ones included:
 * - the keys that they made, themselves, in a session, or by rotating another one;
 * - the keys that took their places by a rotation, because whoever has a key may have rotated it;
 * - in an organization that they have founded, the memberships that they have added, with their keys.
 * @param roots Selects their IDs.
 * @param organizationId Theirs.
 */
export function familyOf(roots: SQL, organizationId: string, reach: FamilyReach): SQL {
  return sql`${familyTable(roots, organizationId, reach)} select id from family where is_reached`;
}

/** Selects the IDs of the keys and sessions that a membership has and had. */
export function credentialsOf(membershipId: string): SQL {
  const isTheirs = sql`membership_id = (select id from membership)`;
  return sql`select id from (with membership(id) as (select ${membershipId})
    select id from api_keys where ${isTheirs}
    union select id from revoked_keys where ${isTheirs}
    union select id from sessions where ${isTheirs}
    union select id from ended_sessions where ${isTheirs})`;
}

/**
 * The table `family(id, is_reached)`, for a select that follows. `is_reached` is 0 for the memberships of
 * the organization that the family has added, and for what these make by themselves.
 */
export function familyTable(roots: SQL, organizationId: string, reach: FamilyReach): SQL {
  // A recursive select names its table once, and D1 permits five selects in a compound. A statement may
  // contain a family six times, and 100 parameters: each value is bound once.
  return sql`with recursive home(id) as (select ${organizationId}), root(id) as (${withPredecessors(roots)}),
    family(id, is_reached) as (select id, 1 from root
      union select edge.value ->> 0, coalesce(edge.value ->> 1, family.is_reached)
        from family join json_each((select json_group_array(json_array(id, is_reached)) from (
          select id, null as is_reached from (${keysMadeBy("api_keys")})
          union all select id, null from (${keysMadeBy("revoked_keys")})
          union all select id, null from (${SUCCESSORS_AND_KEYS_OF_SESSIONS})
          union all select * from (${MEMBERS_ADDED})
          union all select * from (${continuationsOf(reach)})))) as edge)`;
}

/**
 * Selects the IDs of a key and of those that it bounds: they may have no more than it has, and expire no
 * later.
 */
export function boundedBy(keyId: string): SQL {
  return sql`with recursive bounded(id) as (select ${keyId}
      union select child.id from bounded join api_keys as child on child.created_by_key_id = bounded.id
      union select child.id from bounded join revoked_keys as child on child.created_by_key_id = bounded.id)
    select id from bounded`;
}

/** With the keys whose places they have taken. */
function withPredecessors(roots: SQL): SQL {
  return sql`with recursive same(id) as (select id from (${roots})
      union select prior.id from same join api_keys as prior on prior.replaced_by_key_id = same.id
      union select prior.id from same join revoked_keys as prior on prior.replaced_by_key_id = same.id)
    select id from same`;
}

/**
 * Earlier releases do not write `issued_by_key_id`. A key descends from the one that has replaced it until
 * it expires, and is not made by it.
 */
function keysMadeBy(name: "api_keys" | "revoked_keys"): SQL {
  const table = sql.raw(name);
  return sql`select id from ${table} where issued_by_key_id = family.id
    union all select id from ${table} where created_by_key_id = family.id and issued_by_key_id is null
      and replaced_by_key_id is not family.id
    union all select id from ${table} where created_by_session_id = family.id
    union all select id from ${table} where rotated_by_key_id = family.id
    union all select id from ${table} where membership_id = family.id`;
}

const SUCCESSORS_AND_KEYS_OF_SESSIONS = sql`select replaced_by_key_id as id from api_keys
    where id = family.id and replaced_by_key_id is not null
  union all select replaced_by_key_id from revoked_keys
    where id = family.id and replaced_by_key_id is not null
  union all select key_id from sessions where id = family.id and source = 'open_id_connect'
  union all select key_id from ended_sessions where id = family.id and source = 'open_id_connect'`;

/**
 * People of the own organization keep their credentials: an admin sees and removes them. The keys of their
 * sessions leave no tombstones.
 */
const MEMBERS_ADDED = sql`select member.id, iif(member.organization_id = (select id from home), 0, null) from (
    select id, organization_id from memberships where added_by_key_id = family.id
    union all select id, organization_id from memberships where added_by_session_id = family.id
    union all select id, organization_id from removed_memberships where added_by_key_id = family.id
    union all select id, organization_id from removed_memberships where added_by_session_id = family.id) as member
  union all select id, null from ended_sessions where membership_id = family.id`;

/** The sessions of the links of a session, and those that it was switched to. */
function continuationsOf(reach: FamilyReach): SQL {
  const isReached =
    reach === "switched" ? sql`null` : sql`iif(organization_id = (select id from home), 1, 0)`;
  return sql`select id, ${isReached} from sessions where created_by_session_id = family.id
    union all select id, ${isReached} from ended_sessions where created_by_session_id = family.id`;
}
