import { useState } from "preact/hooks";
import { can } from "../access.ts";
import { client, type Schemas } from "../api.ts";
import { useCommands } from "../commands.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Filter } from "../components/filter.tsx";
import { Form, TextField } from "../components/form.tsx";
import { Empty, RecordList } from "../components/list.tsx";
import { Page } from "../components/page.tsx";
import { showHidden } from "../format.ts";
import { useList, useQuery } from "../query.ts";
import { navigate, queryOf, ROOT } from "../router.ts";
import { EnvironmentRow } from "./environment-row.tsx";

/** How many projects show their environments, each with a request of its own. */
const MOST_WITH_ENVIRONMENTS = 12;

export function ProjectsPage() {
  const list = useList("/v1/projects", {}, "on");
  const [isCreating, setCreating] = useState(false);
  const mayCreate = can("createProject");
  const text = queryOf("filter").toLowerCase();
  const create = () => setCreating(true);
  useCommands(mayCreate ? [["Create a project", create]] : []);
  return (
    <Page
      title="Projects"
      actions={
        mayCreate && (
          <Button kind="primary" onClick={create}>
            Create a project
          </Button>
        )
      }
    >
      <Filter label="Filter by name" />
      <RecordList
        list={list}
        label="Projects"
        keyOf={({ id }) => id}
        filter={({ name }) => name.toLowerCase().includes(text)}
        render={(project) => (
          <ProjectItem
            project={project}
            hasEnvironments={(list.items ?? []).indexOf(project) < MOST_WITH_ENVIRONMENTS}
          />
        )}
        empty={
          text ? (
            <Empty title="No loaded project has this name." />
          ) : (
            <Empty
              title="There are no projects yet."
              next={
                mayCreate && {
                  text: "Create the first one here, or with the command line:",
                  command: "npx longshore projects create shop",
                }
              }
            />
          )
        }
      />
      {isCreating && <CreateProject onClose={() => setCreating(false)} />}
    </Page>
  );
}

interface ProjectItemProps {
  project: Schemas["Project"];
  hasEnvironments: boolean;
}

function ProjectItem({ project, hasEnvironments }: ProjectItemProps) {
  const { id, name, description } = project;
  const isReadable = hasEnvironments && can("getProjectOverview", "viewer");
  const overview = useQuery(
    isReadable ? "/v1/projects/{project_id}/overview" : undefined,
    { path: { project_id: id }, query: { limit: 5 } },
    "on",
  );
  return (
    <div class="stack">
      <div>
        <h2>
          <a href={`${ROOT}projects/${id}`}>{showHidden(name)}</a>
        </h2>
        {description && <p class="soft">{showHidden(description)}</p>}
      </div>
      {overview.data && (
        <ul class="stack" aria-label={`Environments of ${name}`}>
          {overview.data.data.map((environment) => (
            <li key={environment.id}>
              <EnvironmentRow environment={environment} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function CreateProject({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create a project" onClose={onClose}>
      <Form
        verb="Create"
        done="Project created."
        onCancel={onClose}
        submit={async (fields) => {
          const body = {
            name: fields.text("name"),
            description: fields.optional("description") ?? null,
          };
          const { id } = await client.post("/v1/projects", { body });
          onClose();
          navigate(`${ROOT}projects/${id}`);
        }}
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" required error={error} />
            <TextField name="description" label="Description (optional)" error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
