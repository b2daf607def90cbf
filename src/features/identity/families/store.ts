import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { whereKeyIsLive } from "../credentials/api-key-table.ts";
import {
  familyTable,
  isWhole,
  keyOwnerOf,
  listedWays,
  type Members,
  madeBy,
  nodesTable,
  rootOf,
  selectValue,
} from "../credentials/index.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { signInLinks } from "../credentials/session-table.ts";
import { trusts } from "../credentials/trust-table.ts";
import type { FamilyItemType } from "./model.ts";

/** A key, a session or a member. */
export interface FamilyRoot {
  id: string;
  organizationId: string;
}

const ITEM = {
  type: sql<FamilyItemType>`item.type`.as("type"),
  id: sql<string>`item.id`.as("id"),
  name: sql<string | null>`item.name`.as("name"),
  membershipId: sql<string | null>`item.membership_id`.as("membership_id"),
  owner: keyOwnerOf(
    sql`item.membership_id`,
    sql`(select api_keys.trust_id from api_keys where api_keys.id = item.id)`,
  ).as("owner"),
  role: sql<OrgRole | null>`item.role`.as("role"),
  createdAt: sql<number>`item.created_at`.as("created_at"),
  credentials: sql<string | null>`item.credentials`.as("credentials"),
};

/**
 * What has not ended, without the root. Of another organization, only how much there is. `whole` selects whether that is
 * all: otherwise, `itemsWalk` reads the page.
 */
export function listFamily(db: Database, root: FamilyRoot, page: PageRequest, now: number) {
  const family = familyTable(rootOf(root.id), root.organizationId, listedWays);
  return {
    found: selectItems(db, itemsOf(root, family, now), page),
    whole: selectValue(db, sql`${family} select ${isWhole(listedWays)}`),
  };
}

/** For a walk: selects the items of members. */
export function itemsWalk(db: Database, root: FamilyRoot, page: PageRequest, now: number) {
  const { id, organizationId } = root;
  const select = (members: Members) =>
    selectItems(db, itemsOf(root, nodesTable(members, organizationId), now), page);
  return { walk: { roots: [id], organizationId, ways: listedWays }, select };
}

function selectItems(db: Database, items: SQL, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, sql`item.created_at`, sql`item.id`);
  return db
    .select(ITEM)
    .from(sql`(${items}) as item`)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit);
}

const MEMBERS = sql`family_member`;

/** D1 permits five selects in a compound. */
function itemsOf({ id, organizationId }: FamilyRoot, family: SQL, now: number): SQL {
  const isOwn = sql`organization_id = ${organizationId}`;
  const lasts = sql`(expires_at is null or expires_at > ${now})`;
  return sql`${family},
    family_member(id) as materialized (select id from family where degree > 0),
    made(type, id, name, membership_id, role, created_at, organization_id) as materialized (
      select 'api_key', id, name, membership_id, role, created_at, organization_id
        from api_keys where id in ${MEMBERS} and session_id is null and ${whereKeyIsLive(now)}
      union all select 'runner_token', id, name, null, null, created_at, organization_id
        from runner_tokens where id in ${MEMBERS} and ${lasts}
      union all select distinct 'trust', made.id, name, membership_id, role, created_at, organization_id
        from ${madeBy(MEMBERS, trusts)}
      union all select distinct 'invitation', made.id, null, null, role, created_at, organization_id
        from ${madeBy(MEMBERS, invitations)} and ${lasts})
    select type, id, name, membership_id, role, created_at, null as credentials
      from made where ${isOwn} and id <> ${id}
    union all select 'session', id, null, membership_id, null, created_at, null
      from sessions where (id in ${MEMBERS} or key_id in ${MEMBERS}) and +${isOwn}
        and id <> ${id} and ${lasts}
    union all select distinct 'sign_in_link', made.id, null, membership_id, null, created_at, null
      from ${madeBy(MEMBERS, signInLinks)} and +${isOwn} and ${lasts}
    union all select 'member', family.id, accounts.name, family.id, present.role,
        coalesce(present.created_at, former.created_at), null
      from family left join memberships as present on present.id = family.id
        left join accounts on accounts.id = present.account_id
        left join removed_memberships as former on former.id = family.id
      where coalesce(present.organization_id, former.organization_id) = ${organizationId}
        and family.id <> ${id} group by family.id
    union all select 'organization', organizations.id, organizations.name, null, null,
        organizations.created_at, json_group_array(made.type || ' ' || made.id)
      from made cross join organizations on organizations.id = made.organization_id
      where made.organization_id <> ${organizationId} group by organizations.id`;
}
