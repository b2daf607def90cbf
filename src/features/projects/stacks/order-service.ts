import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { NotFound } from "../../../lib/errors.ts";
import { write } from "../../../writes/write.ts";
import { requireAccess } from "../access/index.ts";
import {
  type EnvironmentRow,
  findEnvironment,
  orderDifference,
  presentEnvironment,
  selectEnvironment,
} from "../environments/index.ts";
import { NOT_ALL, STACK } from "./model.ts";
import { changeOrder, listOrder } from "./order-store.ts";

/** Returns the environment, whose version it raises. */
export async function orderStacks(
  ctx: ServiceContext,
  environmentId: string,
  ids: readonly string[],
): Promise<EnvironmentRow> {
  const { environment, order } = await requireOrder(ctx, environmentId, ids);
  const { projectId, id, name } = environment;
  const { ordered, positions } = changeOrder(ctx, environmentId, ids);
  return write(ctx, {
    guarded: ordered,
    also: { positions },
    returns: selectEnvironment(ctx.db, ctx.actor.organizationId, environmentId),
    stored: { json: ["configuration"] },
    changes: [
      {
        ...{ projectId, action: "updated", record: { type: "environment", id, name } },
        ...orderDifference("stack", order, ids),
      },
    ],
    unchanged: environment,
    reread: () => requireOrder(ctx, environmentId, ids),
    otherwise: () => NOT_ALL,
  });
}

/** Throws unless the request expects the environment's version, and names each of its stacks. */
async function requireOrder(ctx: ServiceContext, environmentId: string, ids: readonly string[]) {
  const { db, actor } = ctx;
  const { found, stacks } = await batch(db, {
    found: findEnvironment(db, actor, environmentId),
    stacks: listOrder(db, actor.organizationId, environmentId),
  });
  const environment = authorize(actor, "environment", found[0], "contributor");
  await requireAccess(ctx, environment, "deploy");
  await requireExpectedVersion(ctx, environment.version, () => presentEnvironment(environment));
  const order = stacks.map(({ id }) => id);
  if (ids.some((id) => !order.includes(id))) throw new NotFound(STACK);
  if (order.length > ids.length) throw NOT_ALL;
  return { environment, order };
}
