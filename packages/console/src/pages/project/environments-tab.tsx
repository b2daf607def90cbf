import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { EnvironmentRow } from "../environment-row.tsx";
import type { ProjectTabProps } from "../tabs.ts";

export function EnvironmentsTab({ project, can }: ProjectTabProps) {
  const list = useList(
    "/v1/projects/{project_id}/overview",
    { path: { project_id: project.id } },
    "on",
  );
  const mayCreate = can("createEnvironment");
  return (
    <ItemList
      title="Environments"
      list={list}
      buttons={[
        mayCreate && {
          verb: "Create an environment",
          inPalette: "Create an environment",
          dialog: ({ onClose }) => <CreateEnvironment project={project} onClose={onClose} />,
        },
      ]}
      row={(environment) => <EnvironmentRow environment={environment} />}
      empty="There are no environments."
      command={mayCreate && `npx @longshore/cli environments create staging -p ${project.id}`}
    />
  );
}

interface CreateEnvironmentProps {
  project: Schemas["Project"];
  onClose: () => void;
}

function CreateEnvironment({ project, onClose }: CreateEnvironmentProps) {
  return (
    <FormDialog
      title="Create an environment"
      verb="Create"
      done="Environment created."
      onClose={onClose}
      submit={async (fields) => {
        const { id } = await client.post("/v1/projects/{project_id}/environments", {
          path: { project_id: project.id },
          body: { name: fields.text("name") },
        });
        navigate(`${ROOT}environments/${id}`);
      }}
    >
      {(error) => <TextField name="name" label="Name" required error={error} />}
    </FormDialog>
  );
}
