import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { listOf } from "../../../db/list-of.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { WHAT_FREEZES } from "./model.ts";
import { freezes } from "./table.ts";

export type FreezeRow = typeof freezes.$inferSelect;
export type FoundFreeze = Awaited<ReturnType<typeof findFreeze>>[number];

/** Whether it freezes an environment that the actor can access. */
function concerns({ environmentIds }: Actor): SQL | undefined {
  if (environmentIds === null) return undefined;
  return sql`(${freezes.environmentIds} is null or exists (select 1
    from json_each(${freezes.environmentIds}) as item where item.value in ${listOf(environmentIds)}))`;
}

/** Those of a project, or of the whole organization. */
export function listFreezes(
  db: Database,
  actor: Actor,
  projectId: string | null,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, freezes.createdAt, freezes.id);
  const isOf: SQL =
    projectId === null ? sql`${freezes.projectId} is null` : eq(freezes.projectId, projectId);
  return db
    .select()
    .from(freezes)
    .where(and(eq(freezes.organizationId, actor.organizationId), isOf, concerns(actor), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function findFreeze(db: Database, actor: Actor, id: string) {
  return db
    .select({
      ...getTableColumns(freezes),
      environmentId: sql<null>`null`.as("no_environment_id"),
      memberRole: MEMBER_ROLE,
    })
    .from(freezes)
    .leftJoin(projectMembers, isRoleOf(actor, freezes.projectId))
    .where(
      and(eq(freezes.organizationId, actor.organizationId), eq(freezes.id, id), concerns(actor)),
    );
}

export function insertFreeze(db: Database, freeze: FreezeRow) {
  return db.insert(freezes).values(freeze);
}

export function deleteFreeze({ db, actor }: ServiceContext, id: string) {
  return db
    .delete(freezes)
    .where(and(eq(freezes.organizationId, actor.organizationId), eq(freezes.id, id)))
    .returning({ id: freezes.id });
}

/** Of those, the ones that exist in the project, or in the organization. */
export function listEnvironmentsOf(
  db: Database,
  organizationId: string,
  projectId: string | null,
  ids: readonly string[],
) {
  return db
    .select({ id: environments.id })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, organizationId),
        isInLivePlace(environments),
        projectId === null ? undefined : eq(environments.projectId, projectId),
        sql`${environments.id} in ${listOf(ids)}`,
      ),
    );
}

export function freezeCountBound(organizationId: string): Bound {
  const count = sql`(select count(*) from freezes where freezes.organization_id = ${organizationId})`;
  return {
    what: WHAT_FREEZES,
    limit: LIMITS.freezes.value,
    before: count,
    after: sql`${count} + 1`,
  };
}
