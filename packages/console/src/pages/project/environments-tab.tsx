import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { DialogButtons, useOpenDialog } from "../../components/dialog-buttons.tsx";
import { ErrorNote, ReadErrorNote } from "../../components/error-note.tsx";
import { TextField } from "../../components/form.tsx";
import { Empty, LoadMore, Pending } from "../../components/list.tsx";
import { MoveHandle } from "../../components/move-handle.tsx";
import { Section } from "../../components/page.tsx";
import { useOrder } from "../../components/use-order.ts";
import { showHidden } from "../../format.ts";
import { type List, useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { useWaiting, WaitingForYou } from "../protection/waiting.tsx";
import type { ProjectTabProps } from "../tabs.ts";
import { EnvironmentColumn } from "./environment-column.tsx";
import { FirstSteps } from "./first-steps.tsx";

/** The most on a page. */
const MOST_ENVIRONMENTS = 240;

/** What runs in each environment, in their order: the pipeline of the project. */
export function EnvironmentsTab({ project, can }: ProjectTabProps) {
  const list = useList(
    "/v1/projects/{project_id}/overview",
    { path: { project_id: project.id }, query: { limit: MOST_ENVIRONMENTS } },
    "on",
  );
  const waiting = useWaiting()?.filter(({ project_id }) => project_id === project.id) ?? [];
  const create = can("createEnvironment") && {
    verb: "Create an environment",
    inPalette: "Create an environment",
    dialog: ({ onClose }: { onClose: () => void }) => (
      <CreateEnvironment project={project} onClose={onClose} />
    ),
  };
  const { open, dialog } = useOpenDialog(list.reload, [create]);
  const isEmpty = list.items?.length === 0;
  const isUnknown = list.items === undefined && list.error === undefined;
  const [first] = inOrder(list.items ?? []);
  const isNew = list.items?.every(({ recent_deployments: recent }) => recent.length === 0) ?? false;
  return (
    <div class="stack loose">
      {isNew && first && can("createDeployment") && <FirstSteps environment={first} can={can} />}
      {waiting.length > 0 && <WaitingForYou items={waiting} />}
      <Section
        title="Environments"
        actions={
          !isEmpty &&
          create && <DialogButtons buttons={[create]} open={open} isUnknown={isUnknown} />
        }
      >
        {list.items ? <ReadErrorNote error={list.error} /> : <Pending error={list.error} />}
        {isEmpty && (
          <Empty
            title="There are no environments."
            command={create && `${RUN_CLI} environments create staging -p ${project.id}`}
            button={
              create && <DialogButtons buttons={[{ ...create, kind: "primary" }]} open={open} />
            }
          />
        )}
        {!isEmpty && list.items && <Pipeline list={list} projectId={project.id} can={can} />}
        {dialog}
      </Section>
    </div>
  );
}

interface PipelineProps extends Pick<ProjectTabProps, "can"> {
  list: List<Schemas["EnvironmentOverview"]>;
  projectId: string;
}

function Pipeline({ list, projectId, can }: PipelineProps) {
  const { items = [], reload, hasMore } = list;
  const { ordered, mover, error } = useOrder({
    items,
    put: (ids) =>
      client.put("/v1/projects/{project_id}/environment-order", {
        path: { project_id: projectId },
        body: { environment_ids: ids },
      }),
    reload,
  });
  // An order names all environments.
  const isMovable = ordered.length > 1 && !hasMore && can("orderEnvironments");
  return (
    <>
      <ErrorNote error={error} />
      <ol class="pipeline" aria-label="Environments">
        {ordered.map((environment, at) => (
          <EnvironmentColumn
            key={environment.id}
            environment={environment}
            next={ordered[at + 1]}
            projectId={projectId}
            can={can}
            handle={
              isMovable && (
                <MoveHandle name={showHidden(environment.name)} id={environment.id} mover={mover} />
              )
            }
          />
        ))}
      </ol>
      <LoadMore list={list} />
    </>
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
