import { asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { batch } from "../../src/db/batch.ts";
import type { Database } from "../../src/db/client.ts";
import { auditOperator, writeAuditFrom } from "../../src/features/housekeeping/audit/index.ts";
import { apiKeys } from "../../src/features/identity/credentials/api-key-table.ts";
import { revokeKeys } from "../../src/features/identity/credentials/index.ts";
import { invitations } from "../../src/features/identity/credentials/invitation-table.ts";
import { runnerTokens } from "../../src/features/identity/credentials/runner-token-table.ts";
import { sessions, signInLinks } from "../../src/features/identity/credentials/session-table.ts";
import { trusts } from "../../src/features/identity/credentials/trust-table.ts";
import type { Clock } from "../../src/lib/clock.ts";

/** Credentials of one batch. */
const CHUNK = 500;

export interface Credential {
  kind: "API key" | "runner token";
  id: string;
  organizationId: string;
  name: string;
  /** Empty for a runner token. */
  role: string;
  lastFour: string;
}

export type CredentialScope =
  | { ids: readonly string[] }
  | { organizationId: string }
  | { everything: true };

/** Oldest first: the API keys, then the runner tokens. */
export async function listCredentials(
  d1: D1Database,
  scope: CredentialScope,
): Promise<Credential[]> {
  const db = drizzle(d1);
  const keys = await db
    .select({
      kind: sql<Credential["kind"]>`'API key'`,
      id: apiKeys.id,
      organizationId: apiKeys.organizationId,
      name: apiKeys.name,
      role: sql<string>`${apiKeys.role}`,
      lastFour: apiKeys.lastFour,
    })
    .from(apiKeys)
    .where(isInScope(apiKeys, scope))
    .orderBy(asc(apiKeys.id));
  const tokens = await db
    .select({
      kind: sql<Credential["kind"]>`'runner token'`,
      id: runnerTokens.id,
      organizationId: runnerTokens.organizationId,
      name: runnerTokens.name,
      role: sql<string>`''`,
      lastFour: runnerTokens.lastFour,
    })
    .from(runnerTokens)
    .where(isInScope(runnerTokens, scope))
    .orderBy(asc(runnerTokens.id));
  return [...keys, ...tokens];
}

/**
 * Makes the Worker accept credentials again that it refuses since a restore. Ends the sessions of the
 * keys and deletes their links: the restore has brought back those that were revoked or used.
 */
export async function admitCredentials(
  d1: D1Database,
  clock: Clock,
  credentials: readonly Credential[],
): Promise<void> {
  const db: Database = drizzle(d1);
  // The objects of the rate limiter are unknown here. A time is above every version that they can
  // hold: versions are counted from 1 or from such a time, and a revocation sets a time, too.
  const raised = (version: SQL) => sql`max(${version} + 1, ${clock.now()})`;
  for (const { acts, ids, exists } of chunksOf(credentials)) {
    await batch(db, {
      audit: auditOperator({ db, clock }, "credential.admitted", acts, exists),
      keys: db
        .update(apiKeys)
        .set({ keyVersion: raised(sql`${apiKeys.keyVersion}`) })
        .where(sql`${apiKeys.id} in ${ids}`),
      sessions: db.delete(sessions).where(sql`${sessions.keyId} in ${ids}`),
      signInLinks: db.delete(signInLinks).where(sql`${signInLinks.keyId} in ${ids}`),
      tokens: db
        .update(runnerTokens)
        .set({ version: raised(sql`${runnerTokens.version}`) })
        .where(sql`${runnerTokens.id} in ${ids}`),
    });
  }
}

/** Deletes all credentials, trusts and invitations of an organization. Returns the number of credentials. */
export async function revokeAll(
  d1: D1Database,
  clock: Clock,
  organizationId: string,
): Promise<number> {
  const db: Database = drizzle(d1);
  const credentials = await listCredentials(d1, { organizationId });
  for (const { acts, ids, exists } of chunksOf(credentials)) {
    await batch(db, {
      audit: auditOperator({ db, clock }, "credential.revoked", acts, exists),
      keys: revokeKeys(db, {
        organizationId,
        keys: sql`${apiKeys.id} in ${ids}`,
        now: clock.now(),
      }),
      tokens: db.delete(runnerTokens).where(sql`${runnerTokens.id} in ${ids}`),
    });
  }
  await deleteSources({ db, clock }, organizationId);
  return credentials.length;
}

/** The trusts and invitations: they give keys to whoever has a token of the issuer, or the link. */
async function deleteSources(
  ctx: { db: Database; clock: Clock },
  organizationId: string,
): Promise<void> {
  const { db } = ctx;
  const actor = { type: "operator" } as const;
  const trust = { type: "trust", id: trusts.id, name: trusts.name } as const;
  const invitation = { type: "invitation", id: invitations.id, name: null } as const;
  const isTrust = eq(trusts.organizationId, organizationId);
  const isInvitation = eq(invitations.organizationId, organizationId);
  await batch(db, {
    trustRecords: writeAuditFrom(
      ctx,
      organizationId,
      { action: "trust.deleted", target: trust, actor },
      sql`from ${trusts} where ${isTrust}`,
    ),
    trusts: db.delete(trusts).where(isTrust),
    invitationRecords: writeAuditFrom(
      ctx,
      organizationId,
      { action: "invitation.revoked", target: invitation, actor },
      sql`from ${invitations} where ${isInvitation}`,
    ),
    invitations: db.delete(invitations).where(isInvitation),
  });
}

function isInScope(table: typeof apiKeys | typeof runnerTokens, scope: CredentialScope) {
  if ("everything" in scope) return undefined;
  if ("organizationId" in scope) return eq(table.organizationId, scope.organizationId);
  return inArray(table.id, sql`(select value from json_each(${JSON.stringify(scope.ids)}))`);
}

/** With the parts of the statements of one batch. */
function* chunksOf(credentials: readonly Credential[]) {
  for (let at = 0; at < credentials.length; at += CHUNK) {
    const chunk = credentials.slice(at, at + CHUNK);
    const list = JSON.stringify(chunk.map(({ id }) => id));
    yield {
      acts: chunk.map(({ id, organizationId }) => ({ organizationId, recordId: id })),
      ids: sql`(select value from json_each(${list}))`,
      exists: sql`exists (select 1 from api_keys where id = item.value ->> 'recordId' union all
        select 1 from runner_tokens where id = item.value ->> 'recordId')`,
    };
  }
}
