import { eq, inArray, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { HAS_LIVE_COMPONENT } from "../../../db/tombstone.ts";
import { variables } from "../../projects/variables/table.ts";
import { components } from "../../tenancy/component-table.ts";

/** Of both environments, and of their components. The quota of an environment bounds them. */
export function listVariables(
  db: Database,
  organizationId: string,
  environmentIds: readonly string[],
) {
  return db
    .select({
      environmentId: variables.environmentId,
      name: variables.name,
      component: sql<string | null>`${components.name}`.as("component_name"),
      storageMethod: variables.storageMethod,
    })
    .from(variables)
    .leftJoin(components, eq(components.id, variables.componentId))
    .where(
      sql`${variables.organizationId} = ${organizationId}
        and ${inArray(variables.environmentId, [...environmentIds])} and ${HAS_LIVE_COMPONENT}`,
    )
    .orderBy(sql`component_name`, variables.name);
}
