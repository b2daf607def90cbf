import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { NotFound } from "../../../lib/errors.ts";
import { write } from "../../../writes/write.ts";
import { findProject, type ProjectRow, presentProject } from "../projects/index.ts";
import { NOT_ALL } from "./model.ts";
import { orderDifference } from "./order.ts";
import { changeOrder, listOrder } from "./order-store.ts";

/** Returns the project, whose version it raises. */
export async function orderEnvironments(
  ctx: ServiceContext,
  projectId: string,
  ids: readonly string[],
): Promise<ProjectRow> {
  const { project, order } = await requireOrder(ctx, projectId, ids);
  const { organizationId, id, name } = project;
  const { ordered, positions } = changeOrder(ctx, organizationId, projectId, ids);
  return write(ctx, {
    guarded: ordered,
    also: { positions },
    changes: [
      {
        ...{ projectId, action: "updated", record: { type: "project", id, name } },
        ...orderDifference("environment", order, ids),
      },
    ],
    unchanged: project,
    reread: () => requireOrder(ctx, projectId, ids),
    otherwise: () => NOT_ALL,
  });
}

/** Throws unless the request expects the project's version, and names each of its environments. */
async function requireOrder(ctx: ServiceContext, projectId: string, ids: readonly string[]) {
  const { db, actor } = ctx;
  const { found, environments } = await batch(db, {
    found: findProject(db, actor, projectId),
    environments: listOrder(db, actor.organizationId, projectId),
  });
  const project = authorize(actor, "project", found[0], "owner");
  await requireExpectedVersion(ctx, project.version, () => presentProject(project));
  const order = environments.map(({ id }) => id);
  if (ids.some((id) => !order.includes(id))) throw new NotFound("environment in the project");
  if (order.length > ids.length) throw NOT_ALL;
  return { project, order };
}
