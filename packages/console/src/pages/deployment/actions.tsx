import type { Can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { useDecisions } from "../protection/decisions.tsx";
import { PromoteDeployment, RedeployDeployment } from "./copies.tsx";
import { rollbackButton, useRollback } from "./rollback.tsx";

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
  const { id, status, environment_id } = deployment;
  const path = { deployment_id: id };
  const decisions = useDecisions(deployment, projectId);
  const rollback = useRollback({
    environmentId: status === "failed" ? environment_id : undefined,
    version: id,
    can,
  });
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
        // A later deployment may have mended an older failure.
        rollback?.current.id === id && { ...rollbackButton(rollback), inPalette: "Roll back" },
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
