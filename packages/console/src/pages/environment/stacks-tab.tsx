import { useState } from "preact/hooks";
import type { Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { EditStack } from "../stack/edit-stack.tsx";
import type { EnvironmentTabProps } from "./environment-page.tsx";

/** How many stacks show their alarms, each with a request of its own. */
const MOST_WITH_ALARMS = 12;

export function StacksTab({ environment, can }: EnvironmentTabProps) {
  const path = { environment_id: environment.id };
  const list = useList("/v1/environments/{environment_id}/stacks", { path });
  const components = useList("/v1/environments/{environment_id}/components", { path });
  const [isCreating, setCreating] = useState(false);
  const mayCreate = can("createStack");
  const create = () => setCreating(true);
  useCommands(mayCreate ? [["Create a stack", create]] : []);
  const nameOf = (id: string | undefined) => components.items?.find((each) => each.id === id)?.name;
  return (
    <Section title="Stacks" actions={mayCreate && <Button onClick={create}>Create a stack</Button>}>
      <RecordList
        list={list}
        label="Stacks"
        keyOf={({ id }) => id}
        render={(stack) => (
          <StackRow
            stack={stack}
            component={nameOf(stack.component_id)}
            hasAlarms={(list.items ?? []).indexOf(stack) < MOST_WITH_ALARMS}
          />
        )}
        empty={
          <Empty
            title="There are no stacks."
            next={
              mayCreate && {
                text: "Create one here, or with the command line:",
                command: `npx longshore stacks create network -e ${environment.id}`,
              }
            }
          />
        }
      />
      {isCreating && (
        <EditStack
          stack={undefined}
          environmentId={environment.id}
          onClose={() => setCreating(false)}
          reload={list.reload}
        />
      )}
    </Section>
  );
}

interface StackRowProps {
  stack: Schemas["Stack"];
  component: string | undefined;
  hasAlarms: boolean;
}

function StackRow({ stack, component, hasAlarms }: StackRowProps) {
  const { id, name } = stack;
  const alarms = useList(
    hasAlarms ? "/v1/stacks/{stack_id}/alarms" : undefined,
    { path: { stack_id: id } },
    "on",
  );
  const active = alarms.items?.filter(({ state }) => state === "alarm") ?? [];
  return (
    <div class="list-item">
      <span>
        <a href={`${ROOT}stacks/${id}`}>{showHidden(name)}</a>{" "}
        {component && <span class="soft small">{showHidden(component)}</span>}
      </span>
      {active.length > 0 && (
        <span class="row">
          <Status of="alarm" /> {active.map((alarm) => showHidden(alarm.name)).join(", ")}
        </span>
      )}
    </div>
  );
}
