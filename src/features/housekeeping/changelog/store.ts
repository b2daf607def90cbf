import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import {
  keyset,
  limitPageBytes,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { changelogEntries } from "./table.ts";

export type EntryRow = typeof changelogEntries.$inferSelect;

export function listEntries(
  db: Database,
  organizationId: string,
  projectId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, changelogEntries.createdAt, changelogEntries.id);
  const { id, createdAt, resourceName, before, after } = changelogEntries;
  const size = sizeOf({ json: [before, after], text: [resourceName], rest: 450 });
  const items = db
    .select({ id, createdAt, size })
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
  return db
    .select({ ...getTableColumns(changelogEntries), ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(changelogEntries, sql`${id} = page.id`);
}

export function findProject(db: Database, actor: Actor, id: string) {
  return db
    .select({ projectId: projects.id, environmentId: NO_ENVIRONMENT, memberRole: MEMBER_ROLE })
    .from(projects)
    .leftJoin(projectMembers, isRoleOf(actor, projects.id))
    .where(and(eq(projects.organizationId, actor.organizationId), eq(projects.id, id)));
}
