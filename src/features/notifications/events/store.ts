import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import {
  firstOf,
  keyset,
  limitPageBytes,
  matchingOf,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import { unionOf } from "../../../db/union-branches.ts";
import { EVENT_TYPES, type EventType } from "../../housekeeping/outbox/events.ts";
import { events } from "../../housekeeping/outbox/table.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";
import { projects } from "../../tenancy/project-table.ts";

export type EventRow = typeof events.$inferSelect;

export interface EventFilter {
  /** Empty: every type. */
  types: readonly EventType[];
  environmentId: string | undefined;
  /** Inclusive, in milliseconds since the Unix epoch. */
  from: number | undefined;
  /** Exclusive. */
  to: number | undefined;
}

const SIZE = sizeOf({ json: [events.data], rest: 200 });

/** Leaves out the events of environments that the key cannot access. */
export function listEvents(
  db: Database,
  actor: Actor,
  projectId: string,
  filter: EventFilter,
  page: PageRequest,
) {
  const { where } = keyset(page, events.createdAt, events.id);
  const { id, createdAt } = events;
  const isBounded = actor.environmentIds !== null;
  const size = isBounded
    ? sql<number>`iif(${isAccessible(actor)}, ${SIZE.sql}, 0)`.as("size")
    : SIZE;
  // D1 binds at most 100 parameters, and each branch has all conditions: those that are no texts are literals.
  const branch = (type: EventType) =>
    db
      .select({ id, createdAt, size })
      .from(events)
      .where(
        and(
          eq(events.projectId, projectId),
          sql`${events.type} = ${sql.raw(`'${type}'`)}`,
          // The cursor comes first: of two bounds on one side, SQLite starts at the first.
          where,
          matches(filter),
          eq(events.organizationId, actor.organizationId),
        ),
      );
  // Each branch walks an index, which begins with the type.
  const types = filter.types.length > 0 ? filter.types : EVENT_TYPES;
  const items = unionOf(types.map(branch));
  return db
    .select({ ...getTableColumns(events), ...PAGE_POSITION })
    .from(limitPageBytes(page, isBounded ? matchingOf(page, items) : firstOf(page, items)))
    .innerJoin(events, sql`${id} = page.id`);
}

function matches({ environmentId, from, to }: EventFilter): SQL | undefined {
  return and(
    environmentId ? eq(events.environmentId, environmentId) : undefined,
    from === undefined ? undefined : sql`${events.createdAt} >= ${sql.raw(String(from))}`,
    to === undefined ? undefined : sql`${events.createdAt} < ${sql.raw(String(to))}`,
  );
}

function isAccessible({ environmentIds }: Actor): SQL {
  return sql`(${events.environmentId} is null or ${events.environmentId} in
    (select value from json_each(${JSON.stringify(environmentIds)})))`;
}

export function findProject(db: Database, actor: Actor, id: string) {
  return db
    .select({ projectId: projects.id, environmentId: NO_ENVIRONMENT, memberRole: MEMBER_ROLE })
    .from(projects)
    .leftJoin(projectMembers, isRoleOf(actor, projects.id))
    .where(and(eq(projects.organizationId, actor.organizationId), eq(projects.id, id)));
}
