import type { Can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import type { Buttons, DialogButton } from "../../components/dialog-buttons.tsx";
import { PromoteDeployment, RedeployDeployment } from "./copies.tsx";
import { rollbackButton, useRollback } from "./rollback.tsx";

interface ActionOptions {
  deployment: Schemas["Deployment"];
  /** Undefined until it is read. */
  projectId: string | undefined;
  can: Can;
  isEnded: boolean;
}

/** What can be done with a deployment: what mends a failure, and the rest. */
export function useActions({ deployment, projectId, can, isEnded }: ActionOptions): {
  mending: Buttons;
  others: Buttons;
} {
  const { id, status, environment_id } = deployment;
  const hasFailed = status === "failed";
  const rollback = useRollback({
    environmentId: hasFailed ? environment_id : undefined,
    version: id,
    can,
  });
  const isCancelable = status === "queued" || status === "in_progress";
  const redeploy: DialogButton | false = isEnded &&
    can("redeployDeployment") && {
      verb: "Redeploy",
      inPalette: "Redeploy this deployment",
      dialog: ({ onClose }) => <RedeployDeployment id={id} onClose={onClose} />,
    };
  const mending: Buttons = [
    // A later deployment may have mended an older failure.
    rollback?.current.id === id && { ...rollbackButton(rollback), inPalette: "Roll back" },
    redeploy,
  ];
  const others: Buttons = [
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
          work: () =>
            client.patch("/v1/deployments/{deployment_id}/cancel", { path: { deployment_id: id } }),
        },
      },
    !hasFailed && redeploy,
    status === "succeeded" &&
      projectId !== undefined &&
      can("promoteDeployment") && {
        verb: "Promote",
        inPalette: "Promote this deployment",
        dialog: ({ onClose }) => (
          <PromoteDeployment deployment={deployment} projectId={projectId} onClose={onClose} />
        ),
      },
  ];
  return { mending: hasFailed ? mending : [], others };
}
