import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { describeVariables } from "../../../../cli/src/deployments/changed-variables.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { SelectField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { type Query, useQuery } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { DifferentVariables } from "../environment/different-variables.tsx";
import { useOtherEnvironments } from "../environment/other-environments.ts";
import { Preview } from "./preview.tsx";
import { shortNameOf } from "./source.tsx";

const REDEPLOY = "/v1/deployments/{deployment_id}/redeploy" as const;
export const REDEPLOYMENT = "/v1/deployments/{deployment_id}/redeployment" as const;

export function RedeployDeployment({ id, onClose }: { id: string; onClose: () => void }) {
  const path = { deployment_id: id };
  const preview = useQuery(REDEPLOYMENT, { path });
  return (
    <CopyDialog
      verb="Redeploy"
      preview={preview}
      onClose={onClose}
      create={() => client.post(REDEPLOY, { path })}
    >
      <p>
        This creates a deployment of the same configuration and source in this environment.{" "}
        {describeVariables(preview.data?.changed_variables)}
      </p>
    </CopyDialog>
  );
}

interface RollBackProps {
  /** The success that is deployed again. */
  deployment: Schemas["Deployment"];
  onClose: () => void;
}

export function RollBack({ deployment, onClose }: RollBackProps) {
  const { id, environment_id, created_at, finished_at } = deployment;
  const path = { deployment_id: id };
  const preview = useQuery(REDEPLOYMENT, { path });
  const environment = useQuery("/v1/environments/{environment_id}", { path: { environment_id } });
  const name = shortNameOf(deployment.data.source, deployment.reason);
  return (
    <CopyDialog
      title={name === undefined ? "Roll back" : `Roll back to ${name}`}
      verb="Roll back"
      preview={preview}
      onClose={onClose}
      create={() => client.post(REDEPLOY, { path })}
    >
      <p>
        Deploys to <bdi>{showHidden(environment.data?.name ?? "this environment")}</bdi> again what{" "}
        <a href={`${ROOT}deployments/${id}`}>
          succeeded <Time at={finished_at ?? created_at} />
        </a>
        , with its configuration and source. {describeVariables(preview.data?.changed_variables)}
      </p>
    </CopyDialog>
  );
}

interface PromoteProps {
  deployment: Pick<Schemas["Deployment"], "id" | "environment_id">;
  projectId: string;
  /** The environment that is chosen at first. Absent: the next one of the project. */
  to?: string;
  onClose: () => void;
}

export function PromoteDeployment({ deployment, projectId, to, onClose }: PromoteProps) {
  const { others, error } = useOtherEnvironments(deployment.environment_id, projectId);
  const [chosen = others?.[0]?.id, choose] = useState(to);
  const target = chosen ?? "";
  const path = { deployment_id: deployment.id };
  const preview = useQuery(
    target ? "/v1/deployments/{deployment_id}/promotion/{environment_id}" : undefined,
    { path: { ...path, environment_id: target } },
  );
  const comparison = useQuery(target ? "/v1/environments/{environment_id}/comparison" : undefined, {
    path: { environment_id: target },
    query: { with: deployment.environment_id },
  });
  if (others?.length === 0) {
    return (
      <Dialog title="Promote" onClose={onClose}>
        <p>The project has no other environment. Create one first.</p>
        <Button onClick={onClose}>Close</Button>
      </Dialog>
    );
  }
  const promote = () =>
    client.post("/v1/deployments/{deployment_id}/promote", {
      path,
      body: { environment_id: target },
    });
  return (
    <CopyDialog
      verb="Promote"
      preview={error === undefined ? preview : { ...preview, error }}
      onClose={onClose}
      create={promote}
      more={comparison.data && <ComparedVariables comparison={comparison.data} />}
    >
      <SelectField
        name="environment"
        label="To the environment"
        value={target}
        onChange={choose}
        options={(others ?? []).map(({ id, name }) => [id, showHidden(name)] as const)}
      />
    </CopyDialog>
  );
}

/** A promotion takes no variables with it. */
function ComparedVariables({ comparison }: { comparison: Schemas["EnvironmentComparison"] }) {
  const { environment, with: source, variables } = comparison;
  if (!variables) return null;
  return (
    <section class="stack" aria-label="Variables">
      <h3>Variables, which stay as they are</h3>
      <DifferentVariables
        names={[showHidden(environment.name), showHidden(source.name)]}
        variables={variables}
      />
    </section>
  );
}

interface CopyDialogProps {
  verb: string;
  /** Absent: the verb. */
  title?: string;
  preview: Query<Schemas["DeploymentPreview"]>;
  create: () => Promise<{ id: string }>;
  onClose: () => void;
  /** Before the preview. */
  children: ComponentChildren;
  /** After it. */
  more?: ComponentChildren;
}

/** Shows what the new deployment would change, and creates it. */
function CopyDialog(props: CopyDialogProps) {
  const { verb, title = verb, preview, create, onClose, children, more } = props;
  const action = useAction();
  const { data, error } = preview;
  const submit = () =>
    action.run(async () => {
      const { id } = await create();
      onClose();
      navigate(`${ROOT}deployments/${id}`);
    }, "Deployment created.");
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {data ? <Preview preview={data} /> : <Pending error={error} lines={3} />}
      {data && more}
      <ErrorNote error={action.error ?? (data && error)} />
      <div class="row">
        {data && !data.error && (
          <Button kind="primary" isBusy={action.isRunning} onClick={submit}>
            {verb}
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
