import { and, asc, eq, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { projects } from "../../tenancy/project-table.ts";

const { id, position, createdAt } = environments;

const inProject = (organizationId: string, projectId: string) =>
  and(eq(environments.organizationId, organizationId), eq(environments.projectId, projectId));

/** As clients show them. One more than a request can have shows that there are too many. */
export function listOrder(db: Database, organizationId: string, projectId: string) {
  return db
    .select({ id })
    .from(environments)
    .where(inProject(organizationId, projectId))
    .orderBy(sql`${position} is null`, asc(position), asc(createdAt), asc(id))
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
  const place = sql`(select item.key + 1 from json_each(${JSON.stringify(ids)}) as item
    where item.value = ${id})`;
  const positions = after(ordered, (hasChanged) =>
    db.update(environments).set({ position: place }).where(and(where, hasChanged)),
  );
  return { ordered, positions };
}
