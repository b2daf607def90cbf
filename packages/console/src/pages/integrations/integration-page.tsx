import { useCan } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Facts, Page, PendingPage } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { useProjectCrumbs } from "../crumbs.ts";
import { Deliveries } from "./deliveries.tsx";
import { describeFlags } from "./flags.tsx";
import { INTEGRATION, stateOf, targetOf } from "./integration.ts";
import { IntegrationActions } from "./integration-actions.tsx";
import { Recoveries } from "./recoveries.tsx";

export function IntegrationPage({ params }: { params: Params }) {
  const { project_id = "", integration_id = "" } = params;
  const path = { project_id, integration_id };
  const { data, error, reload } = useQuery(INTEGRATION, { path }, "on");
  const crumbs = useProjectCrumbs(project_id);
  const can = useCan(project_id);
  if (!data) return <PendingPage title="Integration" error={error} />;
  return (
    <Page
      title={targetOf(data)}
      crumbs={[...crumbs, ["Integrations", `${ROOT}projects/${project_id}/integrations`]]}
      beside={<Status of={stateOf(data)} />}
      actions={<IntegrationActions integration={data} path={path} can={can} reload={reload} />}
    >
      <div class="stack loose">
        <IntegrationFacts integration={data} />
        <Deliveries path={path} />
        <Recoveries path={path} can={can} />
      </div>
    </Page>
  );
}

function IntegrationFacts({ integration }: { integration: Schemas["Integration"] }) {
  const { id, configuration, environment_ids, stack_ids, disabled_reason } = integration;
  const { failing_since, paused_until, confirm_by } = integration;
  return (
    <Facts
      facts={[
        ["Notifies of", describeFlags(configuration)],
        ["Environments", environment_ids?.length ?? "All"],
        ["Stacks", stack_ids?.length ?? "All"],
        ["ID", <code key="id">{id}</code>],
        failing_since && ["Failing since", <Time key="failing" at={failing_since} />],
        paused_until && ["Paused until", <Time key="paused" at={paused_until} />],
        confirm_by && ["Confirm by", <Time key="confirm" at={confirm_by} />],
        disabled_reason && ["Disabled because", showHidden(disabled_reason)],
      ]}
    />
  );
}
