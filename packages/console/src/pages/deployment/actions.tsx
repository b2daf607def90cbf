import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { describeVariables } from "../../../../cli/src/deployments/changed-variables.ts";
import type { Can } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { SelectField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { formatCount, showHidden } from "../../format.ts";
import { type Query, useList, useQuery } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { useDecisions } from "../protection/decisions.tsx";
import { describeSource } from "./source.tsx";

interface DeploymentButtonsProps {
  deployment: Schemas["Deployment"];
  /** Undefined until it is read. */
  projectId: string | undefined;
  can: Can;
  isLive: boolean;
  reload: () => Promise<void>;
}

export function DeploymentButtons(props: DeploymentButtonsProps) {
  const { deployment, projectId, can, isLive, reload } = props;
  const { id, status } = deployment;
  const path = { deployment_id: id };
  const decisions = useDecisions(deployment, projectId);
  const isCancelable = status === "queued" || status === "in_progress";
  return (
    <PageButtons
      reload={reload}
      buttons={[
        ...decisions,
        isCancelable &&
          can("cancelDeployment") && {
            verb: "Cancel",
            kind: "danger",
            inPalette: "Cancel this deployment",
            confirm: {
              title: "Cancel the deployment",
              verb: "Cancel the deployment",
              done: "The deployment is being canceled.",
              text: "One that has not started ends at once. A runner has 120 seconds to stop one that runs, and changes that were made stay.",
              work: () => client.patch("/v1/deployments/{deployment_id}/cancel", { path }),
            },
          },
        !isLive &&
          can("redeployDeployment") && {
            verb: "Redeploy",
            inPalette: "Redeploy this deployment",
            dialog: ({ onClose }) => <RedeployDeployment id={id} onClose={onClose} />,
          },
        status === "succeeded" &&
          projectId !== undefined &&
          can("promoteDeployment") && {
            verb: "Promote",
            inPalette: "Promote this deployment",
            dialog: ({ onClose }) => (
              <PromoteDeployment deployment={deployment} projectId={projectId} onClose={onClose} />
            ),
          },
      ]}
    />
  );
}

function RedeployDeployment({ id, onClose }: { id: string; onClose: () => void }) {
  const path = { deployment_id: id };
  const preview = useQuery("/v1/deployments/{deployment_id}/redeployment", { path });
  return (
    <CopyDialog
      verb="Redeploy"
      preview={preview}
      onClose={onClose}
      create={() => client.post("/v1/deployments/{deployment_id}/redeploy", { path })}
    >
      <p>
        This creates a deployment of the same configuration and source in this environment.{" "}
        {describeVariables(preview.data?.changed_variables)}
      </p>
    </CopyDialog>
  );
}

interface PromoteProps {
  deployment: Schemas["Deployment"];
  projectId: string;
  onClose: () => void;
}

function PromoteDeployment({ deployment, projectId, onClose }: PromoteProps) {
  const environments = useList("/v1/projects/{project_id}/environments", {
    path: { project_id: projectId },
  });
  const others = environments.items?.filter(({ id }) => id !== deployment.environment_id) ?? [];
  const [chosen, setChosen] = useState<string>();
  const target = chosen ?? others[0]?.id;
  const path = { deployment_id: deployment.id };
  const preview = useQuery(
    target ? "/v1/deployments/{deployment_id}/promotion/{environment_id}" : undefined,
    { path: { ...path, environment_id: target ?? "" } },
  );
  if (environments.items && others.length === 0) {
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
      body: { environment_id: target ?? "" },
    });
  return (
    <CopyDialog verb="Promote" preview={preview} onClose={onClose} create={promote}>
      <SelectField
        name="environment"
        label="To the environment"
        value={target}
        onChange={setChosen}
        options={others.map(({ id, name }) => [id, showHidden(name)] as const)}
      />
    </CopyDialog>
  );
}

interface CopyDialogProps {
  verb: string;
  preview: Query<Schemas["DeploymentPreview"]>;
  create: () => Promise<{ id: string }>;
  onClose: () => void;
  children: ComponentChildren;
}

/** Shows what the new deployment would change, and creates it. */
function CopyDialog({ verb, preview, create, onClose, children }: CopyDialogProps) {
  const action = useAction();
  const { data, error } = preview;
  const submit = () =>
    action.run(async () => {
      const { id } = await create();
      onClose();
      navigate(`${ROOT}deployments/${id}`);
    }, "Deployment created.");
  return (
    <Dialog title={verb} onClose={onClose}>
      {children}
      {data ? <Preview preview={data} /> : <Pending error={error} lines={3} />}
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

function Preview({ preview }: { preview: Schemas["DeploymentPreview"] }) {
  const { error, patch = [], source, stack_ids, superseded_ids } = preview;
  if (error) {
    return (
      <div class="note attention">
        <p>{error.message}</p>
      </div>
    );
  }
  return (
    <>
      <p>
        Source: {describeSource(source)}. Stacks: {stack_ids.length}.
        {superseded_ids.length > 0 &&
          ` It supersedes ${formatCount(superseded_ids.length, "queued deployment")}.`}
      </p>
      <PatchDiff patch={patch} />
    </>
  );
}
