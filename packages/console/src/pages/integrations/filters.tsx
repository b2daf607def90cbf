import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../../api.ts";
import { Check, type FormFields } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { readAll } from "../../query.ts";

interface FilterChoice {
  id: string;
  label: string;
}

interface FilterChoices {
  environments: FilterChoice[];
  stacks: FilterChoice[];
}

/** The environments and stacks of a project. Undefined while they are read. */
export function useFilterChoices(projectId: string) {
  const [choices, setChoices] = useState<FilterChoices>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    readChoices(projectId).then(setChoices, setError);
  }, [projectId]);
  return { choices, error };
}

async function readChoices(projectId: string): Promise<FilterChoices> {
  const path = { project_id: projectId };
  const environments = await readAll("/v1/projects/{project_id}/environments", { path });
  const stacks = await Promise.all(
    environments.map(async (environment) => {
      const found = await readAll("/v1/environments/{environment_id}/stacks", {
        path: { environment_id: environment.id },
      });
      return found.map(({ id, name }) => {
        return { id, label: showHidden(`${environment.name} / ${name}`) };
      });
    }),
  );
  return {
    environments: environments.map(({ id, name }) => ({ id, label: showHidden(name) })),
    stacks: stacks.flat(),
  };
}

interface FilterFieldsProps {
  choices: FilterChoices;
  integration?: Schemas["Integration"];
}

export function FilterFields({ choices, integration }: FilterFieldsProps) {
  return (
    <>
      <Choices
        name="environment"
        legend="Only of these environments (none: all)"
        choices={choices.environments}
        chosen={integration?.environment_ids}
      />
      {choices.stacks.length > 0 && (
        <Choices
          name="stack"
          legend="Only of these stacks (none: all)"
          choices={choices.stacks}
          chosen={integration?.stack_ids}
        />
      )}
    </>
  );
}

interface ChoicesProps {
  name: string;
  legend: string;
  choices: readonly FilterChoice[];
  chosen: readonly string[] | undefined;
}

function Choices({ name, legend, choices, chosen = [] }: ChoicesProps) {
  return (
    <fieldset class="stack">
      <legend>{legend}</legend>
      <div class="checks">
        {choices.map(({ id, label }) => (
          <Check key={id} name={name} value={id} label={label} checked={chosen.includes(id)} />
        ))}
      </div>
    </fieldset>
  );
}

/** Null: without the filter. */
export function readFilters(fields: FormFields) {
  const chosen = (name: string) => (fields.all(name).length > 0 ? fields.all(name) : null);
  return { environment_ids: chosen("environment"), stack_ids: chosen("stack") };
}
