import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { can } from "../../access.ts";
import { client } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { TextField } from "../../components/form.tsx";
import { type FrameProps, ItemList } from "../../components/item-list.tsx";
import { Page } from "../../components/page.tsx";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { useWaiting } from "../protection/waiting.tsx";
import { NeedsAttention } from "./needs-attention.tsx";
import { lastActivity, type Overview, ProjectRow } from "./project-row.tsx";

/** How many projects show their environments, each with a request of its own. */
const MOST_WITH_ENVIRONMENTS = 12;

const Overviews = createContext<ReadonlyMap<string, Overview>>(new Map());

export function ProjectsPage() {
  const list = useList("/v1/projects", {}, "on");
  const [overviews, setOverviews] = useState<ReadonlyMap<string, Overview>>(new Map());
  const mayCreate = can("createProject");
  const { items } = list;
  const activityOf = (id: string) => lastActivity(overviews.get(id));
  return (
    <Overviews.Provider value={overviews}>
      <ItemList
        Frame={HomeFrame}
        title="Projects"
        list={{
          ...list,
          items: items?.toSorted((a, b) => activityOf(b.id).localeCompare(activityOf(a.id))),
        }}
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
          <ProjectRow
            project={project}
            hasEnvironments={(items ?? []).indexOf(project) < MOST_WITH_ENVIRONMENTS}
            onRead={(read) => setOverviews((others) => new Map(others).set(project.id, read))}
          />
        )}
        empty="There are no projects yet."
        noneNamed="No loaded project has this name."
        command={mayCreate && `${RUN_CLI} projects create shop`}
      />
    </Overviews.Provider>
  );
}

function HomeFrame({ children, ...frame }: FrameProps) {
  const approvals = useWaiting() ?? [];
  const overviews = useContext(Overviews);
  return (
    <Page {...frame} count={approvals.length}>
      <NeedsAttention approvals={approvals} overviews={[...overviews.values()]} />
      {children}
    </Page>
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
