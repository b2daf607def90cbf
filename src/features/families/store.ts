import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { apiKeys, whereKeyIsLive } from "../api-keys/table.ts";
import { invitations } from "../invitations/table.ts";
import { credentialsOf, familyOf, madeBy, membersAddedByFamilyOf } from "../memberships/index.ts";
import { runnerTokens } from "../runner-pools/table.ts";
import { signInLinks } from "../sessions/table.ts";
import { trusts } from "../trusts/table.ts";
import type { FamilyItemType } from "./model.ts";

/** A key, a session or a member. */
export interface FamilyRoot {
  id: string;
  organizationId: string;
}

export interface FamilyItem {
  type: FamilyItemType;
  id: string;
  name: string | null;
  membershipId: string | null;
  role: OrgRole | null;
  createdAt: number;
  /** Of an organization: the number of its credentials by their type, as JSON. */
  counts: string | null;
}

const ITEM = {
  type: sql<FamilyItemType>`item.type`.as("type"),
  id: sql<string>`item.id`.as("id"),
  name: sql<string | null>`item.name`.as("name"),
  membershipId: sql<string | null>`item.membership_id`.as("membership_id"),
  role: sql<OrgRole | null>`item.role`.as("role"),
  createdAt: sql<number>`item.created_at`.as("created_at"),
  counts: sql<string | null>`item.counts`.as("counts"),
};

/** What has not ended, without the root. Of another organization, only how much there is. */
export function listFamily(db: Database, root: FamilyRoot, page: PageRequest, now: number) {
  const { where, orderBy, limit } = keyset(page, sql`item.created_at`, sql`item.id`);
  return db
    .select(ITEM)
    .from(sql`(${itemsOf(root, now)}) as item`)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit);
}

const MEMBERS = sql`select id from family_member`;

/** D1 permits five selects in a compound. */
function itemsOf({ id, organizationId }: FamilyRoot, now: number): SQL {
  const roots = sql`select ${id} union ${credentialsOf(id)}`;
  const isOwn = sql`organization_id = ${organizationId}`;
  const lasts = sql`(expires_at is null or expires_at > ${now})`;
  return sql`with family_member(id) as (${familyOf(roots, organizationId, "founded")})
    select * from (
      select 'api_key' as type, id, name, membership_id, role, created_at, null as counts
        from api_keys where id in (${MEMBERS}) and ${isOwn} and id <> ${id}
          and session_id is null and ${whereKeyIsLive(now)}
      union all select 'runner_token', id, name, null, null, created_at, null
        from runner_tokens where id in (${madeBy(MEMBERS, runnerTokens)}) and ${isOwn} and ${lasts}
      union all select 'trust', id, name, membership_id, role, created_at, null
        from trusts where id in (${madeBy(MEMBERS, trusts)}) and ${isOwn}
      union all select 'invitation', id, name, null, role, created_at, null
        from invitations where id in (${madeBy(MEMBERS, invitations)}) and ${isOwn} and ${lasts})
    union all select * from (
      select 'session', id, null, membership_id, null, created_at, null
        from sessions where (id in (${MEMBERS}) or key_id in (${MEMBERS})) and ${isOwn}
          and id <> ${id} and ${lasts}
      union all select 'sign_in_link', id, null, membership_id, null, created_at, null
        from sign_in_links where id in (${madeBy(MEMBERS, signInLinks)}) and ${isOwn} and ${lasts})
    union all select * from (
      select 'member', memberships.id, accounts.name, memberships.id, role, memberships.created_at, null
        from memberships join accounts on accounts.id = memberships.account_id
        where memberships.id in (${membersAddedByFamilyOf(roots, organizationId)}) and memberships.id <> ${id})
    union all select 'organization', id, name, null, null, created_at, ${countsOf(now)}
      from organizations where id in (${otherOrganizations(organizationId)})`;
}

function otherOrganizations(organizationId: string): SQL {
  return sql`select organization_id from api_keys
      where id in (${MEMBERS}) and organization_id <> ${organizationId}
    union select organization_id from runner_tokens
      where id in (${madeBy(MEMBERS, runnerTokens)}) and organization_id <> ${organizationId}`;
}

/** Of the selected organization. */
function countsOf(now: number): SQL {
  const count = (table: SQL, condition: SQL) =>
    sql`(select count(*) from ${table} where organization_id = organizations.id and ${condition})`;
  const made = (table: Parameters<typeof madeBy>[1]) =>
    sql`${table.id} in (${madeBy(MEMBERS, table)})`;
  return sql`json_object(
    'api_keys', ${count(sql`${apiKeys}`, sql`id in (${MEMBERS}) and session_id is null and ${whereKeyIsLive(now)}`)},
    'runner_tokens', ${count(sql`${runnerTokens}`, made(runnerTokens))},
    'trusts', ${count(sql`${trusts}`, made(trusts))},
    'invitations', ${count(sql`${invitations}`, made(invitations))})`;
}
