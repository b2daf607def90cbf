import { useState } from "preact/hooks";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import type { ProjectTabProps } from "./project-page.tsx";

export function SettingsTab({ project, can, reload }: ProjectTabProps) {
  const { id, name, description = "", repo_id, created_at } = project;
  const path = { project_id: id };
  const environments = useList("/v1/projects/{project_id}/environments", { path });
  const [isDeleting, setDeleting] = useState(false);
  return (
    <div class="stack loose">
      <Section title="Settings">
        <Facts
          facts={[
            ["ID", <code key="id">{id}</code>],
            ["Created", <Time key="time" at={created_at} />],
            ...(repo_id ? ([["Repository", <code key="repo">{repo_id}</code>]] as const) : []),
          ]}
        />
        {can("updateProject") && environments.items && (
          <Form
            verb="Save"
            done="Saved."
            submit={async (fields) => {
              await client.patch("/v1/projects/{project_id}", {
                path,
                body: {
                  name: fields.text("name"),
                  description: fields.optional("description") ?? null,
                  default_environment_id: fields.text("default_environment_id"),
                },
              });
              await reload();
            }}
          >
            {(error) => (
              <>
                <TextField name="name" label="Name" value={name} required error={error} />
                <TextField
                  name="description"
                  label="Description"
                  value={description}
                  error={error}
                />
                <SelectField
                  name="default_environment_id"
                  label="Default environment"
                  value={project.default_environment_id}
                  options={(environments.items ?? []).map((each) => [
                    each.id,
                    showHidden(each.name),
                  ])}
                />
              </>
            )}
          </Form>
        )}
      </Section>
      {can("deleteProject") && (
        <Section title="Delete the project">
          <p>This deletes its environments, variables, deployments and integrations for good.</p>
          <div>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete the project
            </Button>
          </div>
        </Section>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete ${showHidden(name)}`}
          verb="Delete"
          typed={name}
          done="Project deleted."
          onClose={() => setDeleting(false)}
          work={async () => {
            await client.delete("/v1/projects/{project_id}", { path });
            navigate(ROOT);
          }}
        >
          <p>Everything in the project is deleted. This cannot be undone.</p>
        </Confirm>
      )}
    </div>
  );
}
