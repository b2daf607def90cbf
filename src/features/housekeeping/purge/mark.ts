import { type Column, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SystemContext } from "../../../context.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { newId } from "../../../lib/ids.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { IS_RESOURCE, purges } from "./table.ts";

type PurgedType = typeof purges.$inferSelect.resourceType;

/** Whether rows of deleted resources of an organization may be left. */
export function hasUnpurged(organizationId: string): SQL {
  return sql`exists (select 1 from purges where organization_id = ${organizationId} and ${IS_RESOURCE})`;
}

/** Precedes the statements that make tombstones, which need the organization. `where` selects the resource. */
export function markForPurge(
  { db, clock }: SystemContext,
  resourceType: PurgedType,
  table: SQLiteTable & { readonly id: Column; readonly organizationId?: Column },
  where: SQL | undefined,
) {
  const createdAt = clock.now();
  const tombstones = { id: TOMBSTONE_ORGANIZATION_ID, name: "Deleted records" };
  return {
    organization: db
      .insert(organizations)
      .values({ ...tombstones, createdAt: 0, updatedAt: 0 })
      .onConflictDoNothing(),
    mark: insertFrom(
      db,
      purges,
      {
        id: newId(clock),
        organizationId: table.organizationId ?? table.id,
        resourceType,
        resourceId: table.id,
        createdAt,
      },
      sql`from ${table} where ${where}`,
    ),
  };
}
