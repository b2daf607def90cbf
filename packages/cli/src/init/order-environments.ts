import type { Schemas } from "../../../client/src/index.ts";
import { inOrder } from "../in-order.ts";
import { KINDS } from "../named-kinds.ts";
import type { CliContext, Session } from "../session.ts";

type Environment = Schemas["Environment"];

const PAGE = 100;
/** As many as an order can have. */
const MAXIMUM_ENVIRONMENTS = 500;

/** Environments without a place get the one in which they were named. A place that somebody chose stays. */
export async function orderEnvironments(
  context: CliContext,
  session: Session,
  project: Schemas["Project"],
  named: readonly Environment[],
): Promise<void> {
  const path = { project_id: project.id };
  const { rows, hasMore } = await session.list<Environment>(KINDS.environment.listPath, {
    path,
    query: { limit: PAGE },
    limit: MAXIMUM_ENVIRONMENTS,
  });
  const before = inOrder(rows);
  const after = placeNamed(
    before,
    named.map(({ id }) => id),
  );
  if (hasMore || after.every((id, at) => id === before[at]?.id)) return;
  await session.client.put("/v1/projects/{project_id}/environment-order", {
    path,
    body: { environment_ids: after },
  });
  const names = after.map((id) => rows.find((each) => each.id === id)?.name);
  context.output.note(`Order of the environments: ${names.join(", ")}.`);
}

/** Each that has no place follows the one that was named before it; the first precedes the others. */
function placeNamed(environments: readonly Environment[], named: readonly string[]): string[] {
  const order = environments
    .filter(({ id, position }) => position !== undefined || !named.includes(id))
    .map(({ id }) => id);
  named.forEach((id, at) => {
    if (order.includes(id)) return;
    const previous = named[at - 1];
    const place =
      previous === undefined
        ? Math.max(
            0,
            order.findIndex((each) => named.includes(each)),
          )
        : order.indexOf(previous) + 1;
    order.splice(place, 0, id);
  });
  return order;
}
