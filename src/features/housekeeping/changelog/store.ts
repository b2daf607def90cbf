import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import {
  firstOf,
  isNamed,
  keyset,
  limitPageBytes,
  matchingOf,
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
import { memberNameOf, parentColumns } from "../audit/index.ts";
import { changelogEntries } from "./table.ts";

export type EntryRow = Awaited<ReturnType<typeof listEntries>>[number];

export interface ChangelogPage extends PageRequest {
  /** As the entries have them. Undefined: every name. */
  actorName: string | undefined;
  resourceName: string | undefined;
}

/** Of who has made an entry. */
const ACTOR_NAME = memberNameOf("changelog_entries");

/** The names of everything but the actor. Nobody has named the key of a sign-in. */
const NAMES = {
  ...parentColumns({
    table: "changelog_entries",
    target: "record",
    fieldOf: (version, name) => sql`${sql.raw(`changelog_entries.${version} ->> '$.${name}'`)}`,
  }),
  sourceName: sql<string | null>`(select name from api_keys
    where id = changelog_entries.key_id and session_id is null
      and organization_id = changelog_entries.organization_id)`.as("source_name"),
};

export function listEntries(
  db: Database,
  organizationId: string,
  projectId: string,
  page: ChangelogPage,
) {
  const { id, createdAt, resourceName, before, after } = changelogEntries;
  const { actorName } = page;
  const size = sizeOf({ json: [before, after], text: [resourceName, resourceName], rest: 1_650 });
  const matches = and(
    actorName === undefined ? undefined : isNamed(ACTOR_NAME, actorName),
    page.resourceName === undefined ? undefined : isNamed(resourceName, page.resourceName),
  );
  const matching = sql<number>`iif(${matches}, ${size.sql}, 0)`.as("size");
  const items = db
    .select({ id, createdAt, size: matches ? matching : size })
    .from(changelogEntries)
    .where(
      and(
        eq(changelogEntries.organizationId, organizationId),
        eq(changelogEntries.projectId, projectId),
        keyset(page, createdAt, id).where,
      ),
    );
  const found = matches ? matchingOf(page, items) : firstOf(page, items);
  return db
    .select({
      ...getTableColumns(changelogEntries),
      actorName: ACTOR_NAME.as("actor_name"),
      ...NAMES,
      ...PAGE_POSITION,
    })
    .from(limitPageBytes(page, found))
    .innerJoin(changelogEntries, sql`${id} = page.id`);
}

export function findProject(db: Database, actor: Actor, id: string) {
  return db
    .select({ projectId: projects.id, environmentId: NO_ENVIRONMENT, memberRole: MEMBER_ROLE })
    .from(projects)
    .leftJoin(projectMembers, isRoleOf(actor, projects.id))
    .where(and(eq(projects.organizationId, actor.organizationId), eq(projects.id, id)));
}
