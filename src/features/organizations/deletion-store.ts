import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { recordHasExpectedVersion } from "../../db/expected-version.ts";
import { isLiveOrganization } from "../../db/tombstone.ts";
import { apiKeys } from "../api-keys/table.ts";
import { ACTIVE_STATUSES } from "../deployments/table.ts";
import { invitations } from "../invitations/table.ts";
import { INTEGRATION_TOMBSTONE, integrations } from "../notifications/integrations/table.ts";
import { markForPurge } from "../purge/index.ts";
import { runnerTokens } from "../runner-pools/table.ts";
import { trusts } from "../trusts/table.ts";
import { ORGANIZATION_TOMBSTONE, organizations } from "./table.ts";

/**
 * Deletes what gives access and what is sent to, at once, and leaves the rest to the purge. Deletes
 * nothing if the organization has an unfinished deployment, or if the request expects another version.
 */
export function deleteOrganization(ctx: ServiceContext, id: string) {
  const { db } = ctx;
  const record = eq(organizations.id, id);
  const isExpected = recordHasExpectedVersion(ctx, organizations.recordVersion, record);
  const isDeletable = sql`${isLiveOrganization(id)} and ${isExpected} and ${noneActive(id)}`;
  const pools = sql`select id from runner_pools where organization_id = ${id}`;
  const projects = sql`select id from projects where organization_id = ${id}`;
  return {
    purge: markForPurge(ctx, "organization", organizations, and(record, isDeletable)),
    ...deleteCredentials(db, id, sql`${runnerTokens.poolId} in (${pools})`, isDeletable),
    integrations: db
      .update(integrations)
      .set(INTEGRATION_TOMBSTONE)
      .where(and(sql`${integrations.projectId} in (${projects})`, isDeletable)),
    deleted: db
      .update(organizations)
      .set(ORGANIZATION_TOMBSTONE)
      .where(and(record, isDeletable))
      .returning({ id: organizations.id }),
  };
}

/** With everything that a new credential could come from. */
function deleteCredentials(db: Database, id: string, ofPools: SQL, condition: SQL) {
  return {
    trusts: db.delete(trusts).where(and(eq(trusts.organizationId, id), condition)),
    invitations: db.delete(invitations).where(and(eq(invitations.organizationId, id), condition)),
    keys: db
      .delete(apiKeys)
      .where(and(eq(apiKeys.organizationId, id), condition))
      .returning({ secretHash: apiKeys.secretHash, version: apiKeys.version }),
    tokens: db
      .delete(runnerTokens)
      .where(and(ofPools, condition))
      .returning({ secretHash: runnerTokens.secretHash, version: runnerTokens.version }),
  };
}

function noneActive(id: string): SQL {
  return sql`not exists (select 1 from deployments as active
    where active.organization_id = ${id} and active.status in ${ACTIVE_STATUSES})`;
}
