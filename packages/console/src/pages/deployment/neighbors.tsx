import { useEffect, useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { ROOT } from "../../router.ts";

type Deployment = Schemas["Deployment"];

const PAGE_ITEMS = 50;
/** How many of the environment are searched, the newest first. */
const MOST_SEARCHED = 500;

/** Of the same environment. Absent: there is none, or it is not found. */
export interface Neighbors {
  previous?: Deployment;
  next?: Deployment;
  /** The newest success before it. */
  previousSuccess?: Deployment;
  /** Whether it is the newest success: the environment runs it. */
  isLive?: boolean;
}

export function useNeighbors({ id, environment_id, status }: Deployment): Neighbors {
  const [neighbors, setNeighbors] = useState<Neighbors>({});
  // One that is superseded has a next one.
  useEffect(() => {
    let isCurrent = true;
    findNeighbors(id, environment_id).then(
      (found) => isCurrent && setNeighbors(found),
      // The page does without them.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, environment_id, status]);
  return neighbors;
}

async function findNeighbors(id: string, environmentId: string): Promise<Neighbors> {
  const found: Neighbors = {};
  let isPassed = false;
  let isSucceeded = false;
  let searched = 0;
  const items = client.list("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    query: { limit: PAGE_ITEMS },
  });
  for await (const each of items) {
    const isSuccess = each.status === "succeeded";
    if (each.id === id) {
      isPassed = true;
      found.isLive = isSuccess && !isSucceeded;
    } else if (!isPassed) {
      found.next = each;
      isSucceeded ||= isSuccess;
    } else {
      found.previous ??= each;
      if (isSuccess) return { ...found, previousSuccess: each };
    }
    searched += 1;
    if (searched === MOST_SEARCHED) break;
  }
  return isPassed ? found : {};
}

export function NeighborLinks({ neighbors: { previous, next } }: { neighbors: Neighbors }) {
  if (!previous && !next) return null;
  return (
    <nav aria-label="Deployments of the environment">
      <ul class="row">
        {previous && (
          <li>
            <a href={`${ROOT}deployments/${previous.id}`}>Previous</a>
          </li>
        )}
        {next && (
          <li>
            <a href={`${ROOT}deployments/${next.id}`}>Next</a>
          </li>
        )}
      </ul>
    </nav>
  );
}
