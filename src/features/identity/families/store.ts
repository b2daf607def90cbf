import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { whereKeyIsLive } from "../credentials/api-key-table.ts";
import { credentialsOf, familyTable, madeBy } from "../credentials/index.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { signInLinks } from "../credentials/session-table.ts";
import { trusts } from "../credentials/trust-table.ts";
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
  const roots = sql`select ${id} as id union ${credentialsOf(id)}`;
  const isOwn = sql`organization_id = ${organizationId}`;
  const lasts = sql`(expires_at is null or expires_at > ${now})`;
  return sql`${familyTable(roots, organizationId, "founded")},
    family_member(id) as materialized (select id from family where is_reached),
    made(type, id, name, membership_id, role, created_at, organization_id) as materialized (
      select 'api_key', id, name, membership_id, role, created_at, organization_id
        from api_keys where id in (${MEMBERS}) and session_id is null and ${whereKeyIsLive(now)}
      union all select 'runner_token', id, name, null, null, created_at, organization_id
        from runner_tokens where id in (${madeBy(MEMBERS, runnerTokens)}) and ${lasts}
      union all select 'trust', id, name, membership_id, role, created_at, organization_id
        from trusts where id in (${madeBy(MEMBERS, trusts)})
      union all select 'invitation', id, null, null, role, created_at, organization_id
        from invitations where id in (${madeBy(MEMBERS, invitations)}) and ${lasts})
    select type, id, name, membership_id, role, created_at, null as counts
      from made where ${isOwn} and id <> ${id}
    union all select 'session', id, null, membership_id, null, created_at, null
      from sessions where (id in (${MEMBERS}) or key_id in (${MEMBERS})) and +${isOwn}
        and id <> ${id} and ${lasts}
    union all select 'sign_in_link', id, null, membership_id, null, created_at, null
      from sign_in_links where id in (${madeBy(MEMBERS, signInLinks)}) and ${isOwn} and ${lasts}
    union all select 'member', family.id, accounts.name, family.id, present.role,
        coalesce(present.created_at, former.created_at), null
      from family left join memberships as present on present.id = family.id
        left join accounts on accounts.id = present.account_id
        left join removed_memberships as former on former.id = family.id
      where coalesce(present.organization_id, former.organization_id) = ${organizationId}
        and family.id <> ${id} group by family.id
    union all select 'organization', organizations.id, organizations.name, null, null,
        organizations.created_at, ${COUNTS}
      from made cross join organizations on organizations.id = made.organization_id
      where made.organization_id <> ${organizationId} group by organizations.id`;
}

const COUNTS = sql`json_object('api_keys', sum(made.type = 'api_key'),
  'runner_tokens', sum(made.type = 'runner_token'), 'trusts', sum(made.type = 'trust'),
  'invitations', sum(made.type = 'invitation'))`;
