import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { OutputUrls } from "../../components/output-url.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { formatCount, formatDuration, humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import { describeSource } from "../deployment/source.tsx";
import type { EnvironmentTabProps } from "../tabs.ts";
import { CreateDeployment } from "./create-deployment.tsx";

const STATUSES: readonly Schemas["DeploymentStatus"][] = [
  "queued",
  "in_progress",
  "canceling",
  "succeeded",
  "failed",
  "canceled",
  "superseded",
];

export function DeploymentsTab({ environment, can }: EnvironmentTabProps) {
  const { id } = environment;
  const status = queryOf("status");
  const list = useList(
    "/v1/environments/{environment_id}/deployments",
    { path: { environment_id: id }, ...(status && { query: { status } }) },
    "live",
  );
  const succeeded = list.items?.find((each) => each.status === "succeeded")?.id;
  const mayDeploy = can("createDeployment");
  return (
    <>
      {list.items && <EnvironmentUrls key={succeeded} environmentId={id} />}
      <ItemList
        title="Deployments"
        list={list}
        buttons={[
          mayDeploy && {
            verb: "Deploy",
            kind: "primary",
            inPalette: "Deploy",
            dialog: ({ onClose }) => (
              <CreateDeployment environment={environment} onClose={onClose} />
            ),
          },
        ]}
        filters={
          <ChoiceFilter
            name="status"
            label="Status"
            options={[["", "All"], ...STATUSES.map((each) => [each, humanize(each)] as const)]}
          />
        }
        row={(deployment) => <DeploymentRow deployment={deployment} />}
        empty={status ? "No deployment has this status." : "Nothing was deployed yet."}
        command={mayDeploy && !status && `npx @longshore/cli deploy -e ${id} --wait`}
      />
    </>
  );
}

/** Of one success: mount it again after the next. */
function EnvironmentUrls({ environmentId }: { environmentId: string }) {
  const path = { environment_id: environmentId };
  const { items } = useList("/v1/environments/{environment_id}/stacks", { path });
  return <OutputUrls stacks={items} />;
}

/** In columns that are the same for all rows. */
export function DeploymentRow({ deployment }: { deployment: Schemas["Deployment"] }) {
  const { id, status, data, created_at, finished_at, run_seconds, stack_ids } = deployment;
  const { created_by, reason, trigger, failure_reason, overridden } = deployment;
  const marks = [
    created_by?.name,
    trigger !== "api" && trigger,
    formatCount(stack_ids.length, "stack"),
    failure_reason && humanize(failure_reason).toLowerCase(),
    overridden && "rules overridden",
  ];
  const [title = reason] = data.source?.git?.commit.message.split("\n") ?? [];
  return (
    <div class="columns">
      <span>
        <a href={`${ROOT}deployments/${id}`}>{describeSource(data.source)}</a>
        {title && <> {showHidden(title)}</>}
        <br />
        <span class="soft small">{showHidden(marks.filter(Boolean).join(" · "))}</span>
      </span>
      <Status of={status} />
      <span class="soft small">
        {run_seconds !== undefined && (
          <>
            <span class="visually-hidden">took </span>
            {formatDuration(run_seconds * 1000)}
          </>
        )}
      </span>
      <Time at={finished_at ?? created_at} />
    </div>
  );
}
