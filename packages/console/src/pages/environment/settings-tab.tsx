import { client } from "../../api.ts";
import { DeleteSection } from "../../components/delete-section.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { navigate, ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";

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
        {can("updateEnvironment") && (
          <Form
            verb="Save"
            done="Saved."
            reload={reload}
            submit={(fields) => {
              const body = { name: fields.text("name") };
              return client.patch("/v1/environments/{environment_id}", { path, body });
            }}
          >
            {(error) => <TextField name="name" label="Name" value={name} required error={error} />}
          </Form>
        )}
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
