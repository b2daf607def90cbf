import { useCan } from "../../access.ts";
import { Facts, Page, PendingPage } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { Deliveries } from "./deliveries.tsx";
import { describeFlags } from "./flags.tsx";
import { IntegrationActions } from "./integration-actions.tsx";
import { Recoveries } from "./recoveries.tsx";
import { stateOf, targetOf } from "./state.ts";

const PATTERN = "/v1/projects/{project_id}/notification-integrations/{integration_id}";

export type IntegrationPath = { project_id: string; integration_id: string };

export function IntegrationPage({ params }: { params: Params }) {
  const { project_id = "", integration_id = "" } = params;
  const path = { project_id, integration_id };
  const { data, error, reload } = useQuery(PATTERN, { path }, "on");
  const project = useQuery("/v1/projects/{project_id}", { path: { project_id } });
  const can = useCan(project_id);
  if (!data) return <PendingPage title="Integration" error={error} />;
  const { failing_since, paused_until, disabled_reason, environment_ids, confirm_by } = data;
  const times = [
    ["Failing since", failing_since],
    ["Paused until", paused_until],
    ["Confirm by", confirm_by],
  ] as const;
  return (
    <Page
      title={targetOf(data)}
      crumbs={[
        ["Projects", ROOT],
        [project.data?.name ?? "Project", `${ROOT}projects/${project_id}`],
        ["Integrations", `${ROOT}projects/${project_id}/integrations`],
      ]}
      beside={<Status of={stateOf(data)} />}
      actions={<IntegrationActions integration={data} path={path} can={can} reload={reload} />}
    >
      <div class="stack loose">
        <Facts
          facts={[
            ["Notifies of", describeFlags(data.configuration)],
            ["Environments", environment_ids?.length ?? "All"],
            ["Stacks", data.stack_ids?.length ?? "All"],
            ["ID", <code key="id">{data.id}</code>],
            ...times.flatMap(([label, at]) =>
              at ? [[label, <Time key={label} at={at} />] as const] : [],
            ),
            ...(disabled_reason
              ? ([["Disabled because", showHidden(disabled_reason)]] as const)
              : []),
          ]}
        />
        <Deliveries path={path} />
        <Recoveries path={path} can={can} />
      </div>
    </Page>
  );
}
