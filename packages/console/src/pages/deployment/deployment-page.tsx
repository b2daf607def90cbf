import { useEffect, useRef, useState } from "preact/hooks";
import { useCan } from "../../access.ts";
import { announce } from "../../announce.ts";
import type { Schemas } from "../../api.ts";
import { DialogButtons, useOpenDialog } from "../../components/dialog-buttons.tsx";
import { Page, PendingPage } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { humanize } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { useStacks } from "../environment/use-stacks.ts";
import { NotFoundPage } from "../not-found.tsx";
import { useDecisions } from "../protection/decisions.tsx";
import { Marks } from "../protection/marks.tsx";
import { type DeploymentTabProps, linkTabs, type Tab } from "../tabs.ts";
import { useActions } from "./actions.tsx";
import { ChangesTab } from "./changes-tab.tsx";
import { useCrumbs } from "./crumbs.ts";
import { Summary } from "./facts.tsx";
import { Failure } from "./failure.tsx";
import { LogTab } from "./log-tab.tsx";
import { NeighborLinks, useNeighbors } from "./neighbors.tsx";
import { OutputsTab } from "./outputs-tab.tsx";
import { TimelineTab } from "./timeline.tsx";
import { Waiting } from "./waiting.tsx";

type Deployment = Schemas["Deployment"];

const TABS: readonly Tab<DeploymentTabProps>[] = [
  { path: "", label: "Log", Content: LogTab },
  { path: "changes", label: "Changes", Content: ChangesTab },
  { path: "timeline", label: "Timeline", Content: TimelineTab },
  { path: "outputs", label: "Outputs", Content: OutputsTab },
];

const ENDED: readonly Schemas["DeploymentStatus"][] = [
  "succeeded",
  "failed",
  "canceled",
  "superseded",
];

export function DeploymentPage({ params }: { params: Params }) {
  const { deployment_id: id = "", tab: path = "" } = params;
  const [isLive, setLive] = useState(true);
  // The log's stream reports each change. Polling finds what a lost stream has not reported.
  const polling = path === "" ? "on" : "live";
  const { data, error, reload } = useQuery(
    "/v1/deployments/{deployment_id}",
    { path: { deployment_id: id } },
    isLive ? polling : "off",
  );
  const status = data?.status;
  useEffect(() => {
    if (status) setLive(!ENDED.includes(status));
  }, [status]);
  const tab = TABS.find((each) => each.path === path);
  if (!tab) return <NotFoundPage />;
  if (!data) return <PendingPage title="Deployment" error={error} />;
  return <LoadedPage deployment={data} tab={tab} isEnded={!isLive} reload={reload} />;
}

interface LoadedPageProps {
  deployment: Deployment;
  tab: Tab<DeploymentTabProps>;
  isEnded: boolean;
  reload: () => Promise<void>;
}

function LoadedPage({ deployment, tab, isEnded, reload }: LoadedPageProps) {
  const { id, status, environment_id, waiting_for = [] } = deployment;
  const stacks = useStacks(environment_id);
  useNewStatus(status, () => {
    // For a person with a screen reader, or who looks elsewhere on the page.
    announce(`The deployment is now: ${humanize(status).toLowerCase()}.`);
    // A success gives them their outputs.
    void stacks.reload();
  });
  const { projectId, crumbs, title } = useCrumbs(deployment);
  const can = useCan(projectId);
  const neighbors = useNeighbors(deployment);
  const decisions = useDecisions(deployment, projectId);
  const { mending, others } = useActions({ deployment, projectId, can, isEnded });
  const buttons = [...decisions, ...others];
  const { open, dialog } = useOpenDialog(reload, [...buttons, ...mending]);
  return (
    <Page
      title={title}
      crumbs={crumbs}
      beside={
        <>
          <Status of={status} />
          {neighbors.isLive && <Status of="live" />}
          <NeighborLinks neighbors={neighbors} />
        </>
      }
      actions={<DialogButtons buttons={buttons} open={open} />}
      lead={
        <>
          <Summary deployment={deployment} />
          {status === "failed" && (
            <Failure deployment={deployment} stacks={stacks.items}>
              <DialogButtons buttons={mending} open={open} />
            </Failure>
          )}
          <Marks deployment={deployment} projectId={projectId} />
          {status === "queued" && <Waiting reasons={waiting_for} />}
        </>
      }
      tabs={linkTabs(`${ROOT}deployments/${id}`, TABS)}
    >
      <tab.Content
        deployment={deployment}
        stacks={stacks.items}
        neighbors={neighbors}
        reload={reload}
      />
      {dialog}
    </Page>
  );
}

function useNewStatus(status: Schemas["DeploymentStatus"], run: () => void): void {
  const earlier = useRef(status);
  useEffect(() => {
    if (status !== earlier.current) run();
    earlier.current = status;
  }, [status]);
}
