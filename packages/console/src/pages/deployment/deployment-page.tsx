import { useEffect, useRef, useState } from "preact/hooks";
import { can, useCan } from "../../access.ts";
import { announce } from "../../announce.ts";
import type { Schemas } from "../../api.ts";
import { Page, PendingPage, Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { Status } from "../../components/status.tsx";
import { humanize } from "../../format.ts";
import { LogView } from "../../log-view/log-view.tsx";
import { useList, useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { openConditions } from "../protection/decisions.tsx";
import { Approvals, Marks } from "../protection/marks.tsx";
import { DeploymentButtons } from "./actions.tsx";
import { ChangedVariables } from "./changed-variables.tsx";
import { DeploymentFacts } from "./facts.tsx";
import { NeighborLinks, useNeighbors } from "./neighbors.tsx";
import { Phases } from "./phases.tsx";

const ENDED: readonly Schemas["DeploymentStatus"][] = [
  "succeeded",
  "failed",
  "canceled",
  "superseded",
];

export function DeploymentPage({ params }: { params: Params }) {
  const { deployment_id: id = "" } = params;
  const path = { deployment_id: id };
  const [isLive, setLive] = useState(true);
  // The log's stream reports each change. Polling finds what a lost stream has not reported.
  const deployment = useQuery("/v1/deployments/{deployment_id}", { path }, isLive ? "on" : "off");
  const { data } = deployment;
  const status = data?.status;
  useEffect(() => {
    if (status) setLive(!ENDED.includes(status));
  }, [status]);
  if (!data) return <PendingPage title="Deployment" error={deployment.error} />;
  return <LoadedPage deployment={data} isLive={isLive} reload={deployment.reload} />;
}

interface LoadedPageProps {
  deployment: Schemas["Deployment"];
  isLive: boolean;
  reload: () => Promise<void>;
}

function LoadedPage({ deployment, isLive, reload }: LoadedPageProps) {
  const { id, status, environment_id } = deployment;
  const path = { environment_id };
  const environment = useQuery("/v1/environments/{environment_id}", { path });
  const stacks = useList("/v1/environments/{environment_id}/stacks", { path });
  useNewStatus(status, () => {
    // For a person with a screen reader, or who looks elsewhere on the page.
    announce(`The deployment is now: ${humanize(status).toLowerCase()}.`);
    // A success gives them their outputs.
    void stacks.reload();
  });
  const projectId = environment.data?.project_id;
  const project = useQuery(projectId ? "/v1/projects/{project_id}" : undefined, {
    path: { project_id: projectId ?? "" },
  });
  const can = useCan(projectId);
  const neighbors = useNeighbors(deployment);
  const { previousRun } = neighbors;
  const hasVariables = deployment.started_at !== undefined || status === "queued";
  const stackNames = new Map(stacks.items?.map((stack) => [stack.id, stack.name]));
  const name = environment.data?.name ?? "environment";
  return (
    <Page
      title={`Deployment to ${name}`}
      crumbs={[
        ["Projects", ROOT],
        [project.data?.name ?? "Project", `${ROOT}projects/${projectId ?? ""}`],
        [name, `${ROOT}environments/${environment_id}`],
      ]}
      beside={
        <>
          <Status of={status} />
          <NeighborLinks neighbors={neighbors} />
        </>
      }
      actions={
        <DeploymentButtons
          deployment={deployment}
          projectId={projectId}
          can={can}
          isLive={isLive}
          reload={reload}
        />
      }
    >
      <div class="stack loose">
        <Marks deployment={deployment} projectId={projectId} />
        <DeploymentFacts deployment={deployment} />
        <Phases deployment={deployment} stacks={stacks.items} />
        <Approvals deployment={deployment} />
        <Section title="Changes to the configuration">
          <Changes deployment={deployment} />
        </Section>
        {previousRun && hasVariables && can("previewRedeployment") && (
          <ChangedVariables deployment={deployment} previousRun={previousRun} />
        )}
        {can("readLog") && (
          <Section title="Log">
            <LogView deploymentId={id} stackNames={stackNames} onStatus={reload} />
          </Section>
        )}
      </div>
    </Page>
  );
}

/** Of one that waits for rules, what would start now. */
function Changes({ deployment }: { deployment: Schemas["Deployment"] }) {
  const { id, data } = deployment;
  const isHeld = openConditions(deployment).length > 0 && can("getEnvironment", "viewer");
  const content = useQuery(
    isHeld ? "/v1/deployments/{deployment_id}/configuration" : undefined,
    { path: { deployment_id: id } },
    isHeld ? "on" : "off",
  );
  return <PatchDiff patch={content.data?.diff ?? data.patch} />;
}

function useNewStatus(status: Schemas["DeploymentStatus"], run: () => void): void {
  const earlier = useRef(status);
  useEffect(() => {
    if (status !== earlier.current) run();
    earlier.current = status;
  }, [status]);
}
