import { inOrder } from "../../../../cli/src/in-order.ts";
import type { Schemas } from "../../api.ts";
import { Choices, type FormFields } from "../../components/form.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";

type FilterChoice = readonly [id: string, label: string];

interface FilterChoices {
  environments: FilterChoice[];
  stacks: FilterChoice[];
}

/** The environments and stacks of a project. Undefined while they are read. */
export function useFilterChoices(projectId: string) {
  return useReadOnce(() => readChoices(projectId));
}

async function readChoices(projectId: string): Promise<FilterChoices> {
  const path = { project_id: projectId };
  const environments = inOrder(await readAll("/v1/projects/{project_id}/environments", { path }));
  const stacks = await Promise.all(
    environments.map(async (environment) => {
      const found = await readAll("/v1/environments/{environment_id}/stacks", {
        path: { environment_id: environment.id },
      });
      return found.map(({ id, name }) => [id, joinNames([environment.name, name], " / ")] as const);
    }),
  );
  return {
    environments: environments.map(({ id, name }) => [id, showHidden(name)]),
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
        options={choices.environments}
        chosen={integration?.environment_ids}
      />
      <Choices
        name="stack"
        legend="Only of these stacks (none: all)"
        options={choices.stacks}
        chosen={integration?.stack_ids}
      />
    </>
  );
}

/** Null: without the filter. */
export function readFilters(fields: FormFields) {
  const chosen = (name: string) => (fields.all(name).length > 0 ? fields.all(name) : null);
  return { environment_ids: chosen("environment"), stack_ids: chosen("stack") };
}
