import { useState } from "preact/hooks";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { navigate, ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "./environment-page.tsx";

export function SettingsTab({ environment, can, reload }: EnvironmentTabProps) {
  const { id, name, project_id, created_at, updated_at } = environment;
  const path = { environment_id: id };
  const [isDeleting, setDeleting] = useState(false);
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
            submit={async (fields) => {
              const body = { name: fields.text("name") };
              await client.patch("/v1/environments/{environment_id}", { path, body });
              await reload();
            }}
          >
            {(error) => <TextField name="name" label="Name" value={name} required error={error} />}
          </Form>
        )}
      </Section>
      {can("deleteEnvironment") && (
        <Section title="Delete the environment">
          <p>This deletes its components, stacks, variables and deployments for good.</p>
          <div>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete the environment
            </Button>
          </div>
        </Section>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete ${showHidden(name)}`}
          verb="Delete"
          typed={name}
          done="Environment deleted."
          onClose={() => setDeleting(false)}
          work={async () => {
            await client.delete("/v1/environments/{environment_id}", { path });
            navigate(`${ROOT}projects/${project_id}`);
          }}
        >
          <p>Everything in the environment is deleted. This cannot be undone.</p>
        </Confirm>
      )}
    </div>
  );
}
