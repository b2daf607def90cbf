import { and, eq } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { changelogEntries } from "../../db/schema.ts";

export type EntryRow = typeof changelogEntries.$inferSelect;

export function listEntries(
  db: Database,
  organizationId: string,
  projectId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, changelogEntries.createdAt, changelogEntries.id);
  return db
    .select()
    .from(changelogEntries)
    .where(
      and(
        eq(changelogEntries.organizationId, organizationId),
        eq(changelogEntries.projectId, projectId),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}
