import { and, eq, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { STACK_ORDER, stacks } from "../../tenancy/stack-table.ts";
import { raiseVersion } from "../environments/index.ts";

const inEnvironment = (organizationId: string, environmentId: string) =>
  and(eq(stacks.organizationId, organizationId), eq(stacks.environmentId, environmentId));

/** The stacks in the environment's own order, which their needs may change. */
export function listOrder(db: Database, organizationId: string, environmentId: string) {
  return db
    .select({ id: stacks.id })
    .from(stacks)
    .where(inEnvironment(organizationId, environmentId))
    .orderBy(STACK_ORDER);
}

/**
 * Changes nothing if the request expects another version of the environment, or if these are not its stacks, each once.
 */
export function changeOrder(ctx: ServiceContext, environmentId: string, ids: readonly string[]) {
  const { db, actor } = ctx;
  const where = inEnvironment(actor.organizationId, environmentId);
  const ordered = raiseVersion(
    ctx,
    environmentId,
    sql`(select json_group_array(id) from (select ${stacks.id} from ${stacks} where ${where} order by ${stacks.id}))
      = ${JSON.stringify(ids.toSorted())}`,
  );
  const position = sql`(select item.key + 1 from json_each(${JSON.stringify(ids)}) as item
    where item.value = ${stacks.id})`;
  // The first is always written: what follows in the batch depends on a changed row.
  const isDifferent = sql`(${stacks.position} is not ${position} or ${position} = 1)`;
  const positions = after(ordered, (hasChanged) =>
    db
      .update(stacks)
      .set({ position })
      .where(and(where, isDifferent, hasChanged)),
  );
  return { ordered, positions };
}
