import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { ServiceContext } from "../../../context.ts";
import { after, type Statement } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { memberships } from "../../tenancy/member-table.ts";
import {
  apiKeys,
  KEY_AUTHORITY,
  revokedKeys,
  whereKeyIsLive,
} from "../credentials/api-key-table.ts";
import { endSessions } from "../credentials/index.ts";
import { endedSessions, sessions, signInLinks } from "../credentials/session-table.ts";
import { SESSION_IDLE_MS } from "./model.ts";

/** Of a key that a sign-in made for its session. */
const HAS_ENDED = sql`api_keys.session_id is not null
  and not exists (select 1 from sessions where sessions.id = api_keys.session_id)`;

export type SessionRow = typeof sessions.$inferSelect;
export type NewSession = Omit<SessionRow, "lastUsedAt">;
type SessionOfKey = NewSession & { keyId: string };
type KeyOfSession = Omit<
  typeof apiKeys.$inferSelect,
  "name" | "role" | "createdByMembershipId" | "isOwn"
>;
export type ListedSession = Awaited<ReturnType<typeof listSessions>>[number];

const PRINCIPAL = {
  ...KEY_AUTHORITY,
  accountId: memberships.accountId,
  membershipRole: sql<OrgRole>`${memberships.role}`.as("membership_role"),
  version: apiKeys.keyVersion,
  keySecretHash: sql<string>`${apiKeys.secretHash}`.as("key_secret_hash"),
  sessionId: sql<string>`${sessions.id}`.as("session_id"),
  sessionCreatedAt: sql<number>`${sessions.createdAt}`.as("session_created_at"),
  sessionExpiresAt: sql<number>`${sessions.expiresAt}`.as("session_expires_at"),
  source: sessions.source,
  lastUsedAt: sessions.lastUsedAt,
};

export function findPrincipal(
  db: Database,
  { id, secretHash }: { id: string; secretHash: string },
) {
  return db
    .select(PRINCIPAL)
    .from(sessions)
    .innerJoin(apiKeys, eq(apiKeys.id, sessions.keyId))
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .where(
      and(
        eq(sessions.id, id),
        eq(sessions.secretHash, secretHash),
        isLiveOrganization(sessions.organizationId),
      ),
    );
}

export function saveUse(db: Database, id: string, time: number) {
  return db
    .update(sessions)
    .set({ lastUsedAt: time })
    .where(
      and(eq(sessions.id, id), or(isNull(sessions.lastUsedAt), lt(sessions.lastUsedAt, time))),
    );
}

/** Neither expired nor unused for too long, and its key exists. The key may have expired. */
function isCurrent(now: number): SQL {
  return sql`(sessions.expires_at > ${now}
    and coalesce(sessions.last_used_at, sessions.created_at) > ${now - SESSION_IDLE_MS}
    and exists (select 1 from api_keys as key where key.id = sessions.key_id))`;
}

/** Of a membership. */
export interface SessionId {
  organizationId: string;
  membershipId: string;
  id: string;
}

type Owner = Pick<SessionId, "organizationId" | "membershipId">;

const ofOwner = ({ organizationId, membershipId }: Owner) =>
  sql`${sessions.organizationId} = ${organizationId} and ${sessions.membershipId} = ${membershipId}`;

const within = ({ id, ...owner }: SessionId) => sql`${sessions.id} = ${id} and ${ofOwner(owner)}`;

export function listSessions(db: Database, owner: Owner, page: PageRequest, now: number) {
  const { where, orderBy, limit } = keyset(page, sessions.createdAt, sessions.id);
  const { id, source, keyId, userAgent, createdAt, expiresAt, lastUsedAt } = sessions;
  return db
    .select({
      id: sql<string>`${id}`.as("id"),
      createdAt: sql<number>`${createdAt}`.as("created_at"),
      expiresAt: sql<number>`${expiresAt}`.as("expires_at"),
      lastUsedAt: sql<number | null>`${lastUsedAt}`.as("last_used_at"),
      ...{ source, keyId, userAgent },
      keyExpiresAt: sql<number | null>`${apiKeys.expiresAt}`.as("key_expires_at"),
    })
    .from(sessions)
    .innerJoin(apiKeys, eq(apiKeys.id, sessions.keyId))
    .where(and(ofOwner(owner), isCurrent(now), whereKeyIsLive(now), where))
    .orderBy(...orderBy)
    .limit(limit);
}

/** A membership, or one that was removed and has had sessions. */
export function findOwner(db: Database, owner: Owner) {
  const { organizationId, membershipId } = owner;
  const member = db
    .select({ id: sql<string>`${memberships.id}`.as("id") })
    .from(memberships)
    .where(and(eq(memberships.organizationId, organizationId), eq(memberships.id, membershipId)));
  const former = db
    .select({ id: sql<string>`${endedSessions.membershipId}`.as("id") })
    .from(endedSessions)
    .where(isEndedOf(owner))
    .limit(1);
  return unionAll(member, db.select().from(former.as("former")));
}

export type EndedSession = typeof endedSessions.$inferSelect;

export function listEndedSessions(db: Database, owner: Owner, page: PageRequest) {
  const { where, orderBy, limit } = keyset(page, endedSessions.createdAt, endedSessions.id);
  return db
    .select()
    .from(endedSessions)
    .where(and(isEndedOf(owner), where))
    .orderBy(...orderBy)
    .limit(limit);
}

const isEndedOf = ({ organizationId, membershipId }: Owner) =>
  and(
    eq(endedSessions.organizationId, organizationId),
    eq(endedSessions.membershipId, membershipId),
  );

export type FoundSession = Awaited<ReturnType<typeof findSessions>["active"]>[number];

/** A session, or its tombstone, with the authority that it has or had, as far as its key is known. */
export function findSessions(db: Database, { id, ...owner }: SessionId) {
  const authority = {
    keyRole: sql<OrgRole>`coalesce(${apiKeys.role}, ${revokedKeys.role}, 'owner')`.as("key_role"),
    membershipRole: sql<OrgRole>`coalesce(${memberships.role}, 'member')`.as("membership_role"),
    scopes: apiKeys.scopes,
    projectIds: apiKeys.projectIds,
    environmentIds: apiKeys.environmentIds,
  };
  const select = (table: typeof sessions | typeof endedSessions) =>
    db
      .select({ id: sql<string>`${table.id}`.as("id"), ...authority })
      .from(table)
      .leftJoin(apiKeys, eq(apiKeys.id, table.keyId))
      .leftJoin(revokedKeys, eq(revokedKeys.id, table.keyId))
      .leftJoin(memberships, eq(memberships.id, table.membershipId));
  return {
    active: select(sessions).where(within({ id, ...owner })),
    ended: select(endedSessions).where(and(isEndedOf(owner), eq(endedSessions.id, id))),
  };
}

/** Those that have ended do not count. */
export function deleteEnded(db: Database, membershipId: string, now: number) {
  const isOver = sql`${eq(sessions.membershipId, membershipId)} and not ${isCurrent(now)}`;
  return {
    sessions: endSessions(db, isOver, now),
    keys: db.delete(apiKeys).where(and(eq(apiKeys.membershipId, membershipId), HAS_ENDED)),
  };
}

export function sessionCountBound(membershipId: string): Bound {
  const count = sql`(select count(*) from sessions where sessions.membership_id = ${membershipId})`;
  return {
    what: "sessions of a membership",
    limit: LIMITS.sessionsOfMembership.value,
    before: count,
    after: sql`${count} + 1`,
  };
}

/** Inserts nothing unless the key is still valid. */
export function insertSession(db: Database, session: SessionOfKey) {
  return insertIf(db, session, sql`true`);
}

/** Also inserts nothing unless the link was `consumed`. */
export function insertSessionOfLink(db: Database, session: SessionOfKey, consumed: Statement) {
  return after(consumed, (hasChanged) => insertIf(db, session, hasChanged));
}

function insertIf(db: Database, session: SessionOfKey, condition: SQL) {
  const row = { ...session, lastUsedAt: null };
  const isValid = sql`${condition} and ${isValidKey(session.keyId, session.createdAt)}
    and ${isLiveOrganization(session.organizationId)}`;
  return insertFrom(db, sessions, row, sql`where ${isValid}`).returning();
}

function isValidKey(keyId: string, now: number): SQL {
  return sql`exists (select 1 from ${apiKeys} where ${apiKeys.id} = ${keyId}
    and ${whereKeyIsLive(now)})`;
}

/**
 * A key for a session with all that the membership may do: its secret is nobody's. Inserts nothing
 * unless the membership is an active person's.
 */
export function insertKeyOfSession(db: Database, key: KeyOfSession) {
  const row = {
    ...key,
    name: "Sign-in",
    role: "owner" as const,
    createdByMembershipId: key.membershipId,
    isOwn: true,
  };
  return insertFrom(
    db,
    apiKeys,
    row,
    sql`where exists (select 1 from memberships where memberships.id = ${key.membershipId}
      and memberships.organization_id = ${key.organizationId}
      and memberships.status = 'active' and memberships.kind = 'person')`,
  );
}

/**
 * Ends a session of a membership, with the unused links that it created. `keys` has what makes every
 * isolate read its key, and so its sessions, again.
 */
export function endSession({ db, clock }: Pick<ServiceContext, "db" | "clock">, id: SessionId) {
  const session = within(id);
  const selected = sql`(select ${sessions.id} from ${sessions} where ${session})`;
  return {
    links: db.delete(signInLinks).where(sql`${signInLinks.createdBySessionId} in ${selected}`),
    keys: db
      .update(apiKeys)
      .set({ keyVersion: sql`${apiKeys.keyVersion} + 1` })
      .where(sql`${apiKeys.id} in (select ${sessions.keyId} from ${sessions} where ${session})`)
      .returning({ secretHash: apiKeys.secretHash, version: apiKeys.keyVersion }),
    ownKeys: db.delete(apiKeys).where(sql`${apiKeys.sessionId} in ${selected}`),
    ...endSessions(db, session, clock.now()),
  };
}

/** All are valid for the same time at most, so the first in the order of their IDs expire first. */
export function deleteExpired(db: Database, now: number) {
  const limit = LIMITS.sweepSessions.value;
  const isOver = sql`${sessions.id} in (select id from sessions order by id limit ${limit})
    and not ${isCurrent(now)}`;
  return {
    sessions: endSessions(db, isOver, now),
    keys: db.delete(apiKeys).where(
      sql`${apiKeys.id} in (select id from api_keys where session_id is not null
          order by session_id limit ${limit}) and ${HAS_ENDED}`,
    ),
    links: db.delete(signInLinks).where(
      sql`${signInLinks.id} in (select id from sign_in_links order by id limit ${limit})
        and ${signInLinks.expiresAt} <= ${now}`,
    ),
  };
}
