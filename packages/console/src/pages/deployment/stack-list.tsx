import type { Schemas } from "../../api.ts";
import { OutputUrl } from "../../components/output-url.tsx";
import { Status } from "../../components/status.tsx";
import { useSeconds } from "../../components/time.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { queryOf, setQuery } from "../../router.ts";
import { ownReasonsOf, spanOf, statesOf } from "./stack-states.ts";

interface StackListProps {
  deployment: Schemas["Deployment"];
  /** The environment's stacks. Undefined until they are read. */
  stacks: readonly Schemas["Stack"][] | undefined;
}

/** The stacks in the order of their needs. A click shows the log of one, and another click that of all. */
export function StackList({ deployment, stacks = [] }: StackListProps) {
  const states = statesOf(deployment);
  const reasons = ownReasonsOf(deployment);
  const now = useSeconds(states.some(({ status }) => status === "in_progress"));
  const chosen = queryOf("stack");
  if (states.length === 0) return <p class="soft">The deployment has no stacks.</p>;
  return (
    <ul class="list stacks" aria-label="Stacks">
      {states.map((state) => {
        const { id, status } = state;
        const { name = id, outputs } = stacks.find((stack) => stack.id === id) ?? {};
        const url = status === "succeeded" ? outputs?.["url"] : undefined;
        const span = spanOf(state);
        const reason = reasons.get(id);
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={chosen === id}
              onClick={() => setQuery({ stack: chosen === id ? "" : id })}
            >
              <bdi>{showHidden(name)}</bdi>
              <Status of={status} />
              <span class="soft small">
                {span && formatDuration((span.end ?? now) - span.start)}
              </span>
            </button>
            {url !== undefined && (
              <p>
                <OutputUrl url={url} />
              </p>
            )}
            {reason !== undefined && <p>{showHidden(reason)}</p>}
          </li>
        );
      })}
    </ul>
  );
}
