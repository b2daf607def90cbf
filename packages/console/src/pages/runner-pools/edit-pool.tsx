import { inOrder } from "../../../../cli/src/in-order.ts";
import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, Form, TextField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";
import { currentWho } from "../../session.ts";

const SECONDS_PER_HOUR = 3_600;
const DEFAULT_HOURS = 6;

interface EditPoolProps extends OpenDialogProps {
  /** Absent: creates one. */
  pool?: Schemas["RunnerPool"];
}

export function EditPool({ pool, ...dialog }: EditPoolProps) {
  const { data: environments, error: loadError } = useReadOnce(readEnvironments);
  const seconds = pool?.max_run_seconds ?? DEFAULT_HOURS * SECONDS_PER_HOUR;
  return (
    <Dialog
      title={pool ? `Edit ${showHidden(pool.name)}` : "Create a runner pool"}
      onClose={dialog.onClose}
    >
      {!environments && <Pending error={loadError} />}
      {environments && (
        <Form
          {...dialog}
          verb={pool ? "Save" : "Create"}
          done={pool ? "Saved." : "Runner pool created."}
          submit={(fields) =>
            savePool(pool, {
              name: fields.text("name"),
              environment_ids: fields.all("environment"),
              max_run_seconds: Math.round(Number(fields.text("hours")) * SECONDS_PER_HOUR),
            })
          }
        >
          {(error) => (
            <>
              <TextField name="name" label="Name" value={pool?.name} required error={error} />
              <TextField
                name="hours"
                type="number"
                label="Longest run, in hours"
                value={String(seconds / SECONDS_PER_HOUR)}
                hint="A run that takes longer fails."
                error={error}
              />
              <Choices
                name="environment"
                legend="Environments whose deployments its runners claim"
                options={environments}
                chosen={pool?.environment_ids}
              />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}

async function savePool(pool: EditPoolProps["pool"], body: Schemas["CreateRunnerPool"]) {
  const path = { org_id: currentWho().organization.id };
  if (!pool) return client.post("/v1/orgs/{org_id}/runner-pools", { path, body });
  return client.patch("/v1/orgs/{org_id}/runner-pools/{pool_id}", {
    path: { ...path, pool_id: pool.id },
    body,
  });
}

/** Of all projects, each with the name of its project. */
async function readEnvironments() {
  const projects = await readAll("/v1/projects");
  const lists = await Promise.all(
    projects.map(async (project) => {
      const path = { project_id: project.id };
      const environments = await readAll("/v1/projects/{project_id}/environments", { path });
      return inOrder(environments).map(
        ({ id, name }) => [id, joinNames([project.name, name], " / ")] as const,
      );
    }),
  );
  return lists.flat();
}
