import { useState } from "preact/hooks";
import { client } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { EnvironmentRow } from "../environment-row.tsx";
import type { ProjectTabProps } from "./project-page.tsx";

export function EnvironmentsTab({ project, can }: ProjectTabProps) {
  const list = useList(
    "/v1/projects/{project_id}/overview",
    { path: { project_id: project.id } },
    "on",
  );
  const [isCreating, setCreating] = useState(false);
  const create = () => setCreating(true);
  const mayCreate = can("createEnvironment");
  useCommands(mayCreate ? [["Create an environment", create]] : []);
  return (
    <Section
      title="Environments"
      actions={mayCreate && <Button onClick={create}>Create an environment</Button>}
    >
      <RecordList
        list={list}
        label="Environments"
        keyOf={({ id }) => id}
        render={(environment) => <EnvironmentRow environment={environment} />}
        empty={
          <Empty
            title="There are no environments."
            next={
              mayCreate && {
                text: "Create one here, or with the command line:",
                command: `npx longshore environments create staging -p ${project.id}`,
              }
            }
          />
        }
      />
      {isCreating && (
        <Dialog title="Create an environment" onClose={() => setCreating(false)}>
          <Form
            verb="Create"
            done="Environment created."
            onCancel={() => setCreating(false)}
            submit={async (fields) => {
              const { id } = await client.post("/v1/projects/{project_id}/environments", {
                path: { project_id: project.id },
                body: { name: fields.text("name") },
              });
              navigate(`${ROOT}environments/${id}`);
            }}
          >
            {(error) => <TextField name="name" label="Name" required error={error} />}
          </Form>
        </Dialog>
      )}
    </Section>
  );
}
