import { RUN_CLI } from "../../../../src/lib/addresses.ts";
import { inOrder } from "../../../cli/src/in-order.ts";
import { can } from "../access.ts";
import { client, type Schemas } from "../api.ts";
import { FormDialog } from "../components/dialog.tsx";
import type { OpenDialogProps } from "../components/dialog-buttons.tsx";
import { TextField } from "../components/form.tsx";
import { type FrameProps, ItemList } from "../components/item-list.tsx";
import { Page } from "../components/page.tsx";
import { showHidden } from "../format.ts";
import { useList, useQuery } from "../query.ts";
import { navigate, ROOT } from "../router.ts";
import { EnvironmentRow } from "./environment-row.tsx";
import { useWaiting, WaitingForYou } from "./protection/waiting.tsx";

/** How many projects show their environments, each with a request of its own. */
const MOST_WITH_ENVIRONMENTS = 12;

export function ProjectsPage() {
  const list = useList("/v1/projects", {}, "on");
  const mayCreate = can("createProject");
  return (
    <ItemList
      Frame={HomeFrame}
      title="Projects"
      list={list}
      buttons={[
        mayCreate && {
          verb: "Create a project",
          kind: "primary",
          inPalette: "Create a project",
          dialog: CreateProject,
        },
      ]}
      nameOf={({ name }) => name}
      row={(project) => (
        <ProjectItem
          project={project}
          hasEnvironments={(list.items ?? []).indexOf(project) < MOST_WITH_ENVIRONMENTS}
        />
      )}
      empty="There are no projects yet."
      noneNamed="No loaded project has this name."
      command={mayCreate && `${RUN_CLI} projects create shop`}
    />
  );
}

function HomeFrame({ children, ...frame }: FrameProps) {
  const waiting = useWaiting() ?? [];
  return (
    <Page {...frame} count={waiting.length}>
      {waiting.length > 0 && <WaitingForYou items={waiting} />}
      {children}
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
          {inOrder(overview.data.data).map((environment) => (
            <li key={environment.id}>
              <EnvironmentRow environment={environment} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function CreateProject({ onClose }: OpenDialogProps) {
  return (
    <FormDialog
      title="Create a project"
      verb="Create"
      done="Project created."
      onClose={onClose}
      submit={async (fields) => {
        const body = {
          name: fields.text("name"),
          description: fields.optional("description") ?? null,
        };
        const { id } = await client.post("/v1/projects", { body });
        navigate(`${ROOT}projects/${id}`);
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" required error={error} />
          <TextField name="description" label="Description (optional)" error={error} />
        </>
      )}
    </FormDialog>
  );
}
