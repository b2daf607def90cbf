import { useState } from "preact/hooks";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { Check, type FormFields, SelectField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";
import {
  type Chosen,
  type EnvironmentChoice,
  type Filters,
  toChosen,
  toFilters,
} from "./chosen-environments.ts";

/** The environments and stacks of a project. Undefined while they are read. */
export function useFilterChoices(projectId: string) {
  return useReadOnce(() => readChoices(projectId));
}

async function readChoices(projectId: string): Promise<EnvironmentChoice[]> {
  const path = { project_id: projectId };
  const environments = inOrder(await readAll("/v1/projects/{project_id}/environments", { path }));
  return Promise.all(
    environments.map(async ({ id, name }) => ({
      id,
      name,
      stacks: inOrder(
        await readAll("/v1/environments/{environment_id}/stacks", { path: { environment_id: id } }),
      ),
    })),
  );
}

const FILTERS = "filters";
const WHICH = [
  ["all", "All environments"],
  ["some", "Only these environments"],
] as const;

interface FilterFieldsProps {
  choices: readonly EnvironmentChoice[];
  integration?: Filters;
}

/** One picker: environments, and in each of them all stacks or some. */
export function FilterFields({ choices, integration = {} }: FilterFieldsProps) {
  const [first] = useState(() => toChosen(integration, choices));
  const [chosen, setChosen] = useState(first);
  const choose = (id: string, stacks: readonly string[] | undefined) => {
    const changed = new Map(chosen);
    if (stacks) changed.set(id, stacks);
    else changed.delete(id);
    setChosen(changed);
  };
  return (
    <>
      <SelectField
        name="environments"
        label="Environments"
        options={WHICH}
        value={chosen ? "some" : "all"}
        onChange={(which) => setChosen(which === "all" ? undefined : new Map())}
      />
      {chosen && (
        <ul class="stack tight" aria-label="Environments">
          {choices.map((each) => (
            <EnvironmentFields key={each.id} of={each} chosen={chosen} choose={choose} />
          ))}
        </ul>
      )}
      {chosen?.size === 0 && <p class="soft small">Choose at least one. None means all.</p>}
      {chosen !== first && (
        <input type="hidden" name={FILTERS} value={JSON.stringify(toFilters(chosen, choices))} />
      )}
    </>
  );
}

interface EnvironmentFieldsProps {
  of: EnvironmentChoice;
  chosen: Chosen;
  /** `stacks` undefined: without the environment. */
  choose: (id: string, stacks: readonly string[] | undefined) => void;
}

function EnvironmentFields({ of: { id, name, stacks }, chosen, choose }: EnvironmentFieldsProps) {
  const some = chosen.get(id);
  return (
    <li>
      <Check
        name="environment"
        label={showHidden(name)}
        checked={some !== undefined}
        onChange={(isChosen) => choose(id, isChosen ? [] : undefined)}
      />
      {some && stacks.length > 1 && (
        <fieldset class="nested">
          <legend class="soft small">Stacks of {showHidden(name)} (none: all)</legend>
          <div class="checks">
            {stacks.map((stack) => (
              <Check
                key={stack.id}
                name="stack"
                label={showHidden(stack.name)}
                checked={some.includes(stack.id)}
                onChange={(isChosen) =>
                  choose(
                    id,
                    isChosen ? [...some, stack.id] : some.filter((each) => each !== stack.id),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
      )}
    </li>
  );
}

/** Nothing if the filters are as they were: a list whose resources are gone does not become one of all. */
export function readFilters(fields: FormFields): Partial<ReturnType<typeof toFilters>> {
  const filters = fields.optional(FILTERS);
  return filters === undefined ? {} : (JSON.parse(filters) as ReturnType<typeof toFilters>);
}
