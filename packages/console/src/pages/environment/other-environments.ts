import { inOrder } from "../../../../cli/src/in-order.ts";
import { readAll, useReadOnce } from "../../query.ts";

const PAGE_ITEMS = 100;

/** Those of the project, the one first that comes after the environment. Undefined until they are read. */
export function useOtherEnvironments(id: string, projectId: string) {
  const { data, error } = useReadOnce(() =>
    readAll("/v1/projects/{project_id}/environments", {
      path: { project_id: projectId },
      query: { limit: PAGE_ITEMS },
    }),
  );
  const ordered = data && inOrder(data);
  const at = ordered?.findIndex((each) => each.id === id) ?? 0;
  return { others: ordered && [...ordered.slice(at + 1), ...ordered.slice(0, at)], error };
}
