import { and, asc, eq, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { environmentPositions, environments, POSITION } from "../../tenancy/environment-table.ts";
import { projects } from "../../tenancy/project-table.ts";

const { id, createdAt } = environments;

const inProject = (organizationId: string, projectId: string) =>
  and(eq(environments.organizationId, organizationId), eq(environments.projectId, projectId));

/** As clients show them. One more than a request can have shows that there are too many. */
export function listOrder(db: Database, organizationId: string, projectId: string) {
  return db
    .select({ id })
    .from(environments)
    .where(inProject(organizationId, projectId))
    .orderBy(sql`${POSITION} nulls last`, asc(createdAt), asc(id))
    .limit(LIMITS.orderedEnvironments.value + 1);
}

/**
 * Changes nothing if the request expects another version of the project, or if these are not its
 * environments, each once.
 */
export function changeOrder(
  ctx: ServiceContext,
  organizationId: string,
  projectId: string,
  ids: readonly string[],
) {
  const { db, clock } = ctx;
  const where = inProject(organizationId, projectId);
  const ordered = db
    .update(projects)
    .set({ updatedAt: clock.now(), version: nextVersion(projects.version) })
    .where(
      and(
        eq(projects.organizationId, organizationId),
        eq(projects.id, projectId),
        hasExpectedVersion(ctx, projects.version),
        sql`(select json_group_array(id) from (select ${id} from ${environments} where ${where} order by ${id}))
          = ${JSON.stringify(ids.toSorted())}`,
      ),
    )
    .returning();
  const { position, environmentId } = environmentPositions;
  // The first is always written: what follows in the batch depends on a changed row.
  const isDifferent = sql`${position} <> excluded.position or excluded.position = 1`;
  const positions = after(ordered, (hasChanged) =>
    insertFrom(
      db,
      environmentPositions,
      { environmentId: sql`item.value`, organizationId, position: sql`item.key + 1` },
      sql`from json_each(${JSON.stringify(ids)}) as item where ${hasChanged}`,
    ).onConflictDoUpdate({
      target: environmentId,
      set: { position: sql`excluded.position` },
      setWhere: isDifferent,
    }),
  );
  return { ordered, positions };
}
