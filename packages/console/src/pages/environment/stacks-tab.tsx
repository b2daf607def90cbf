import type { ComponentChildren } from "preact";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { client, type Schemas } from "../../api.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { MoveHandle } from "../../components/move-handle.tsx";
import { OutputUrl } from "../../components/output-url.tsx";
import { Status } from "../../components/status.tsx";
import { useOrder } from "../../components/use-order.ts";
import { joinNames, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { EditStack } from "../stack/edit-stack.tsx";
import type { EnvironmentTabProps } from "../tabs.ts";
import { useStacks } from "./use-stacks.ts";

/** How many stacks show their alarms, each with a request of its own. */
const MOST_WITH_ALARMS = 12;

export function StacksTab({ environment, can }: EnvironmentTabProps) {
  const path = { environment_id: environment.id };
  const list = useStacks(environment.id);
  const { items, hasMore, reload } = list;
  const { ordered, mover, error } = useOrder({
    items: items ?? [],
    put: (ids) =>
      client.put("/v1/environments/{environment_id}/stack-order", {
        path,
        body: { stack_ids: ids },
      }),
    reload,
  });
  // An order names all stacks.
  const isMovable = ordered.length > 1 && !hasMore && can("orderStacks");
  const components = useList("/v1/environments/{environment_id}/components", { path });
  const mayCreate = can("createStack");
  const nameOf = (id: string | undefined) => components.items?.find((each) => each.id === id)?.name;
  return (
    <ItemList
      title="Stacks"
      list={{ ...list, items: items && ordered }}
      buttons={[
        mayCreate && {
          verb: "Create a stack",
          inPalette: "Create a stack",
          dialog: (props) => <EditStack environmentId={environment.id} {...props} />,
        },
      ]}
      row={(stack) => (
        <StackRow
          stack={stack}
          component={nameOf(stack.component_id)}
          hasAlarms={ordered.indexOf(stack) < MOST_WITH_ALARMS}
          handle={
            isMovable && <MoveHandle name={showHidden(stack.name)} id={stack.id} mover={mover} />
          }
        />
      )}
      empty="There are no stacks."
      command={mayCreate && `${RUN_CLI} stacks create network -e ${environment.id}`}
    >
      {ordered.length > 1 && (
        <p class="soft small">Stacks deploy in this order, after the stacks they need.</p>
      )}
      <ErrorNote error={error} />
    </ItemList>
  );
}

interface StackRowProps {
  stack: Schemas["Stack"];
  component: string | undefined;
  hasAlarms: boolean;
  /** Moves it. False: the order cannot be changed. */
  handle: ComponentChildren;
}

function StackRow({ stack, component, hasAlarms, handle }: StackRowProps) {
  const { id, name, outputs } = stack;
  const alarms = useList(
    hasAlarms ? "/v1/stacks/{stack_id}/alarms" : undefined,
    { path: { stack_id: id } },
    "on",
  );
  const active = alarms.items?.filter(({ state }) => state === "alarm") ?? [];
  return (
    <div class="movable" data-movable={id}>
      <div class="list-item">
        <span>
          <a href={`${ROOT}stacks/${id}`}>{showHidden(name)}</a>{" "}
          {component && <span class="soft small">{showHidden(component)}</span>}
          {outputs?.["url"] !== undefined && (
            <div>
              <OutputUrl url={outputs["url"]} />
            </div>
          )}
        </span>
        {active.length > 0 && (
          <span class="row">
            <Status of="alarm" />{" "}
            {joinNames(
              active.map((alarm) => alarm.name),
              ", ",
            )}
          </span>
        )}
      </div>
      {handle}
    </div>
  );
}
