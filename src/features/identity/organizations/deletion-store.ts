import { and, eq, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
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
import { apiKeys, whereKeyIsLive } from "../credentials/api-key-table.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { sessions, signInLinks } from "../credentials/session-table.ts";
import { trusts } from "../credentials/trust-table.ts";
import { usedSignIns } from "../open-id-connect/table.ts";

/**
 * Deletes what gives access and what is sent to, at once, and leaves the rest to the purge. Deletes
 * nothing if the organization has an unfinished deployment, or if the request expects another version.
 */
export function deleteOrganization(ctx: ServiceContext, id: string) {
  const { db, ownership } = ctx;
  const resource = eq(organizations.id, id);
  const isExpected = resourceHasExpectedVersion(ctx, organizations.version, resource);
  const isDeletable = sql`${isLiveOrganization(id)} and ${isExpected} and ${ownership.isIdle(organizations, id)}`;
  const pools = sql`select id from runner_pools where organization_id = ${id}`;
  const projects = sql`select id from projects where organization_id = ${id}`;
  const ofPools = sql`${runnerTokens.poolId} in (${pools})`;
  return {
    invalidated: listCredentials(ctx, id, ofPools, isDeletable),
    purge: markForPurge(ctx, "organization", organizations, and(resource, isDeletable)),
    ...deleteCredentials(db, id, ofPools, isDeletable),
    integrations: db
      .update(integrations)
      .set(INTEGRATION_TOMBSTONE)
      .where(and(sql`${integrations.projectId} in (${projects})`, isDeletable)),
    founded: db
      .update(organizations)
      .set({ limitsOrganizationId: null })
      .where(and(eq(organizations.limitsOrganizationId, id), isDeletable)),
    deleted: db
      .update(organizations)
      .set(ORGANIZATION_TOMBSTONE)
      .where(and(resource, isDeletable))
      .returning({ id: organizations.id }),
  };
}

/** With everything that a new credential could come from. */
function deleteCredentials(db: Database, id: string, ofPools: SQL, condition: SQL) {
  return {
    trusts: db.delete(trusts).where(and(eq(trusts.organizationId, id), condition)),
    invitations: db.delete(invitations).where(and(eq(invitations.organizationId, id), condition)),
    sessions: db.delete(sessions).where(and(eq(sessions.organizationId, id), condition)),
    usedSignIns: db.delete(usedSignIns).where(and(eq(usedSignIns.organizationId, id), condition)),
    signInLinks: db.delete(signInLinks).where(and(eq(signInLinks.organizationId, id), condition)),
    keys: db.delete(apiKeys).where(and(eq(apiKeys.organizationId, id), condition)),
    tokens: db.delete(runnerTokens).where(and(ofPools, condition)),
  };
}

/** Those that isolates may have cached. Their number is limited, so those of CI jobs are the last. */
function listCredentials(
  { db, clock }: ServiceContext,
  organizationId: string,
  ofPools: SQL,
  condition: SQL,
) {
  const now = clock.now();
  const keys = db
    .select({
      secretHash: apiKeys.secretHash,
      version: apiKeys.keyVersion,
      isOfTrust: sql<number>`${apiKeys.trustId} is not null`.as("is_of_trust"),
    })
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizationId), whereKeyIsLive(now), condition));
  const tokens = db
    .select({
      secretHash: runnerTokens.secretHash,
      version: runnerTokens.version,
      isOfTrust: sql<number>`${runnerTokens.trustId} is not null`.as("is_of_trust"),
    })
    .from(runnerTokens)
    .where(
      and(
        ofPools,
        sql`(${runnerTokens.expiresAt} is null or ${runnerTokens.expiresAt} > ${now})`,
        condition,
      ),
    );
  return unionAll(keys, tokens)
    .orderBy(sql`is_of_trust`)
    .limit(LIMITS.invalidatedCredentials.value);
}
