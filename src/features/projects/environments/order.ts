/** How many IDs the audit log and the changelog have of a new order. */
const NAMED = 10;

/**
 * What an entry of the changelog has of a new order: the first of those IDs that are elsewhere now, and how many these are.
 * @param what `environments` or `stacks`.
 */
export function orderDifference(
  what: "environment" | "stack",
  order: readonly string[],
  ids: readonly string[],
) {
  const from = order.filter((id, at) => id !== ids[at]);
  const to = ids.filter((id, at) => id !== order[at]);
  const [field, count] = [`${what}_ids`, `${what}s`];
  return {
    before: { [field]: from.slice(0, NAMED) },
    after: { [field]: to.slice(0, NAMED), [count]: to.length || undefined },
  };
}
