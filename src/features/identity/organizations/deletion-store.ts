import { and, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { resourceHasExpectedVersion } from "../../../db/expected-version.ts";
import { isLiveOrganization } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  INTEGRATION_TOMBSTONE,
  integrations,
} from "../../housekeeping/outbox/integration-table.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import { ORGANIZATION_TOMBSTONE, organizations } from "../../tenancy/organization-table.ts";
import { apiKeys } from "../credentials/api-key-table.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { sessions, signInLinks } from "../credentials/session-table.ts";
import { trusts } from "../credentials/trust-table.ts";
import { usedSignIns } from "../open-id-connect/table.ts";

/**
 * Deletes what gives access and what is sent to, as far as one batch may, and leaves the rest to the purge: no
 * credential of a deleted organization is valid. Deletes nothing if the organization has an unfinished
 * deployment, or if the request expects another version.
 */
export function deleteOrganization(ctx: ServiceContext, id: string) {
  const { db, ownership } = ctx;
  const resource = eq(organizations.id, id);
  const isExpected = resourceHasExpectedVersion(ctx, organizations.version, resource);
  const isDeletable = sql`${isLiveOrganization(id)} and ${isExpected} and ${ownership.isIdle(organizations, id)}`;
  const { limitsOrganizationId } = organizations;
  return {
    cached: listCredentials(ctx, id, isDeletable),
    purge: markForPurge(ctx, "organization", organizations, and(resource, isDeletable)),
    ...deleteCredentials(db, id, isDeletable),
    integrations: db
      .update(integrations)
      .set(INTEGRATION_TOMBSTONE)
      .where(sql`${isDeletable} and ${integrations}.rowid in (select integrations.rowid
        from projects cross join integrations on integrations.project_id = projects.id
        where projects.organization_id = ${id} limit ${LIMITS.deletedRows.value})`),
    founded: db
      .update(organizations)
      .set({ limitsOrganizationId: null })
      .where(and(eq(limitsOrganizationId, id), isDeletable)),
    deleted: db
      .update(organizations)
      .set(ORGANIZATION_TOMBSTONE)
      .where(and(resource, isDeletable))
      .returning({ id: organizations.id }),
  };
}

/** With everything that a new credential could come from. */
function deleteCredentials(db: Database, id: string, condition: SQL) {
  const deleteSome = (
    table: SQLiteTable,
    rows = sql`from ${table} where organization_id = ${id}`,
  ) =>
    db.delete(table).where(sql`${condition} and ${table}.rowid in
      (select ${table}.rowid ${rows} limit ${LIMITS.deletedCredentials.value})`);
  return {
    trusts: deleteSome(trusts),
    invitations: deleteSome(invitations),
    sessions: deleteSome(sessions),
    usedSignIns: deleteSome(usedSignIns),
    signInLinks: deleteSome(signInLinks),
    keys: deleteSome(apiKeys, keysOf(id, sql`is null`)),
    keysOfTrusts: deleteSome(apiKeys, keysOf(id, sql`is not null`)),
    tokens: deleteSome(runnerTokens, tokensOf(id)),
  };
}

const keysOf = (id: string, hasTrust: SQL) =>
  sql`from api_keys where organization_id = ${id} and trust_id ${hasTrust}`;

const tokensOf = (id: string) => sql`from runner_pools cross join runner_tokens
  on runner_tokens.pool_id = runner_pools.id where runner_pools.organization_id = ${id}`;

/** Rows in which credentials to invalidate are searched. */
const SEARCHED = 2 * LIMITS.invalidatedCredentials.value;

/** Those that isolates may have cached. */
function listCredentials({ db, clock }: ServiceContext, id: string, condition: SQL) {
  const now = clock.now();
  const list = (columns: SQL, rows: SQL) =>
    db
      .select({
        secretHash: sql<string>`item.secret_hash`.as("secret_hash"),
        version: sql<number>`item.version`.as("version"),
        isOfTrust: sql<number>`item.trust_id is not null`.as("is_of_trust"),
      })
      .from(sql`(select ${columns} ${rows} and ${condition} limit ${SEARCHED}) as item`)
      .where(sql`item.end_at is null or item.end_at > ${now}`);
  const ofKeys = sql`secret_hash, version, trust_id, expires_at as end_at`;
  const ofTokens = sql`runner_tokens.secret_hash, runner_tokens.version, trust_id, expires_at as end_at`;
  return {
    keys: list(ofKeys, keysOf(id, sql`is null`)),
    keysOfTrusts: list(ofKeys, keysOf(id, sql`is not null`)),
    tokens: list(ofTokens, tokensOf(id)),
  };
}
