import { client } from "../../api.ts";
import { DeleteSection } from "../../components/delete-section.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { navigate, ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";
import { useStacks } from "./use-stacks.ts";

export function SettingsTab({ environment, can, reload }: EnvironmentTabProps) {
  const { id, name, project_id, created_at, updated_at } = environment;
  const path = { environment_id: id };
  return (
    <div class="stack loose">
      <Section title="Settings">
        <Facts
          facts={[
            ["ID", <code key="id">{id}</code>],
            ["Created", <Time key="created" at={created_at} />],
            ["Updated", <Time key="updated" at={updated_at} />],
          ]}
        />
        {can("updateEnvironment") && <EditEnvironment environment={environment} reload={reload} />}
      </Section>
      {can("deleteEnvironment") && (
        <DeleteSection
          what="environment"
          name={name}
          content="its components, stacks, variables and deployments"
          text="Everything in the environment is deleted. This cannot be undone."
          work={() => client.delete("/v1/environments/{environment_id}", { path })}
          leave={() => navigate(`${ROOT}projects/${project_id}`)}
        />
      )}
    </div>
  );
}

function EditEnvironment({ environment, reload }: Omit<EnvironmentTabProps, "can">) {
  const { id, name, url_stack_id } = environment;
  const path = { environment_id: id };
  const stacks = useStacks(id);
  if (!stacks.items && !stacks.error) return null;
  const { items = [] } = stacks;
  const chosenId = items.find((each) => each.id === url_stack_id)?.id ?? "";
  return (
    <Form
      verb="Save"
      done="Saved."
      reload={reload}
      submit={(fields) => {
        const stackId = fields.text("url_stack_id");
        const body = {
          name: fields.text("name"),
          // Another name is no reason to send it again: the stack may be deleted, or on no page that is read.
          ...(stackId !== chosenId && { url_stack_id: stackId || null }),
        };
        return client.patch("/v1/environments/{environment_id}", { path, body });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" value={name} required error={error} />
          {items.length > 0 && (
            <SelectField
              name="url_stack_id"
              label="URL of the environment"
              value={chosenId}
              options={[
                ["", "The stack that last reported one"],
                ...items.map((each) => [each.id, showHidden(each.name)] as const),
              ]}
            />
          )}
        </>
      )}
    </Form>
  );
}
