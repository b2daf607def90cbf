import { inOrder } from "../../../../cli/src/in-order.ts";
import type { Schemas } from "../../api.ts";
import { type List, useList } from "../../query.ts";

/** The most on a page. */
const PAGE_ITEMS = 240;

/** The stacks of an environment, in their order. */
export function useStacks(environmentId: string): List<Schemas["Stack"]> {
  const list = useList("/v1/environments/{environment_id}/stacks", {
    path: { environment_id: environmentId },
    query: { limit: PAGE_ITEMS },
  });
  return { ...list, items: list.items && inOrder(list.items) };
}
