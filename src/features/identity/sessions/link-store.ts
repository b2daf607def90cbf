import { and, eq, lte, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { accounts, memberships } from "../../tenancy/member-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { apiKeys, isAsAuthenticated, whereKeyIsLive } from "../credentials/api-key-table.ts";
import { signInLinks } from "../credentials/session-table.ts";
import { UNUSED_LINKS } from "./model.ts";

export type SignInLinkRow = typeof signInLinks.$inferSelect;

export interface CreatedSignInLink {
  row: SignInLinkRow;
  token: string;
  /** Of the link. */
  origin: string;
}

/** What a link proves. */
export interface SignInToken {
  id: string;
  secretHash: string;
}

export type UsableLink = Awaited<ReturnType<typeof findLink>>[number];

/** Not expired, its organization not deleted, and its key still valid. */
function isUsable({ id, secretHash }: SignInToken, now: number): SQL {
  return sql`sign_in_links.id = ${id} and sign_in_links.secret_hash = ${secretHash}
    and sign_in_links.expires_at > ${now}
    and ${isLiveOrganization(sql`sign_in_links.organization_id`)}
    and exists (select 1 from ${apiKeys} where ${apiKeys.id} = sign_in_links.key_id
      and ${whereKeyIsLive(now)})`;
}

export function findLink(db: Database, token: SignInToken, now: number) {
  return db
    .select({
      id: sql<string>`${signInLinks.id}`.as("id"),
      organizationId: sql<string>`${signInLinks.organizationId}`.as("organization_id"),
      membershipId: sql<string>`${signInLinks.membershipId}`.as("membership_id"),
      keyId: signInLinks.keyId,
      expiresAt: sql<number>`${signInLinks.expiresAt}`.as("expires_at"),
      sessionExpiresAt: signInLinks.sessionExpiresAt,
      createdBySessionId: signInLinks.createdBySessionId,
      organizationName: sql<string>`${organizations.name}`.as("organization_name"),
      accountId: memberships.accountId,
      accountName: sql<string>`${accounts.name}`.as("account_name"),
      keyName: sql<string>`${apiKeys.name}`.as("key_name"),
      keyRole: sql<OrgRole>`${apiKeys.role}`.as("key_role"),
      membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
    })
    .from(signInLinks)
    .innerJoin(apiKeys, eq(apiKeys.id, signInLinks.keyId))
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .innerJoin(accounts, eq(accounts.id, memberships.accountId))
    .innerJoin(organizations, eq(organizations.id, memberships.organizationId))
    .where(isUsable(token, now));
}

/** Of concurrent requests, one deletes it. */
export function consumeLink(db: Database, token: SignInToken, now: number) {
  return db.delete(signInLinks).where(isUsable(token, now)).returning({ id: signInLinks.id });
}

export function unusedLinkBound(keyId: string): Bound {
  const count = sql`(select count(*) from sign_in_links where sign_in_links.key_id = ${keyId})`;
  return {
    what: UNUSED_LINKS,
    limit: LIMITS.signInLinksOfKey.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Those that have expired do not count. */
export function deleteExpiredLinks(db: Database, keyId: string, now: number) {
  return db
    .delete(signInLinks)
    .where(and(eq(signInLinks.keyId, keyId), lte(signInLinks.expiresAt, now)));
}

/** Inserts nothing unless the key and the session that create it are as they were. */
export function insertLink({ db, actor }: ServiceContext, link: SignInLinkRow) {
  const condition = sql`where ${isAsAuthenticated(actor)}`;
  return insertFrom(db, signInLinks, link, condition).returning();
}
