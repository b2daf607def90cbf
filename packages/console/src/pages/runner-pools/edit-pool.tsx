import { useEffect, useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Check, Form, TextField } from "../../components/form.tsx";
import { Skeleton } from "../../components/list.tsx";
import { showHidden } from "../../format.ts";
import { readAll } from "../../query.ts";
import { currentWho } from "../../session.ts";

const SECONDS_PER_HOUR = 3_600;
const DEFAULT_HOURS = 6;

interface EditPoolProps {
  /** Undefined: creates one. */
  pool: Schemas["RunnerPool"] | undefined;
  onClose: () => void;
  reload: () => Promise<void>;
}

export function EditPool({ pool, onClose, reload }: EditPoolProps) {
  const { environments, error: loadError } = useAllEnvironments();
  const save = async (body: Schemas["CreateRunnerPool"]) => {
    const path = { org_id: currentWho().organization.id };
    if (pool) {
      await client.patch("/v1/orgs/{org_id}/runner-pools/{pool_id}", {
        path: { ...path, pool_id: pool.id },
        body,
      });
    } else {
      await client.post("/v1/orgs/{org_id}/runner-pools", { path, body });
    }
    await reload();
  };
  return (
    <Dialog
      title={pool ? `Edit ${showHidden(pool.name)}` : "Create a runner pool"}
      onClose={onClose}
    >
      <ErrorNote error={loadError} />
      {!environments && loadError === undefined && <Skeleton />}
      {environments && (
        <Form
          verb={pool ? "Save" : "Create"}
          done={pool ? "Saved." : "Runner pool created."}
          onCancel={onClose}
          onDone={onClose}
          submit={(fields) =>
            save({
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
                value={String(
                  (pool?.max_run_seconds ?? DEFAULT_HOURS * SECONDS_PER_HOUR) / SECONDS_PER_HOUR,
                )}
                hint="A run that takes longer fails."
                error={error}
              />
              <fieldset class="stack">
                <legend>Environments whose deployments its runners claim</legend>
                <div class="checks">
                  {environments.map(({ id, label }) => (
                    <Check
                      key={id}
                      name="environment"
                      value={id}
                      label={label}
                      checked={pool?.environment_ids.includes(id) ?? false}
                    />
                  ))}
                </div>
              </fieldset>
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}

interface EnvironmentChoice {
  id: string;
  /** With the name of its project. */
  label: string;
}

function useAllEnvironments() {
  const [environments, setEnvironments] = useState<EnvironmentChoice[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    readEnvironments().then(setEnvironments, setError);
  }, []);
  return { environments, error };
}

async function readEnvironments(): Promise<EnvironmentChoice[]> {
  const projects = await readAll("/v1/projects");
  const lists = await Promise.all(
    projects.map(async (project) => {
      const path = { project_id: project.id };
      const environments = await readAll("/v1/projects/{project_id}/environments", { path });
      return environments.map(({ id, name }) => ({
        id,
        label: showHidden(`${project.name} / ${name}`),
      }));
    }),
  );
  return lists.flat();
}
