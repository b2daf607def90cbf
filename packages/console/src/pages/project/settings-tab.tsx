import { inOrder } from "../../../../cli/src/in-order.ts";
import { client } from "../../api.ts";
import { DeleteSection } from "../../components/delete-section.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import type { ProjectTabProps } from "../tabs.ts";

export function SettingsTab(props: ProjectTabProps) {
  const { project, can } = props;
  const { id, name, repo_id, created_at } = project;
  return (
    <div class="stack loose">
      <Section title="Settings">
        <Facts
          facts={[
            ["ID", <code key="id">{id}</code>],
            ["Created", <Time key="time" at={created_at} />],
            repo_id && ["Repository", <code key="repo">{repo_id}</code>],
          ]}
        />
        {can("updateProject") && <EditProject {...props} />}
      </Section>
      {can("deleteProject") && (
        <DeleteSection
          what="project"
          name={name}
          content="its environments, variables, deployments and integrations"
          text="Everything in the project is deleted. This cannot be undone."
          work={() => client.delete("/v1/projects/{project_id}", { path: { project_id: id } })}
          leave={() => navigate(ROOT)}
        />
      )}
    </div>
  );
}

function EditProject({ project, reload }: ProjectTabProps) {
  const { name, description = "", default_environment_id } = project;
  const path = { project_id: project.id };
  const { items } = useList("/v1/projects/{project_id}/environments", { path });
  if (!items) return null;
  return (
    <Form
      verb="Save"
      done="Saved."
      reload={reload}
      submit={(fields) => {
        const body = {
          name: fields.text("name"),
          description: fields.optional("description") ?? null,
          default_environment_id: fields.text("default_environment_id"),
        };
        return client.patch("/v1/projects/{project_id}", { path, body });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" value={name} required error={error} />
          <TextField name="description" label="Description" value={description} error={error} />
          <SelectField
            name="default_environment_id"
            label="Default environment"
            value={default_environment_id}
            options={inOrder(items).map((each) => [each.id, showHidden(each.name)])}
          />
        </>
      )}
    </Form>
  );
}
