import { useState } from "preact/hooks";
import type { Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { ChoiceFilter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import { describeSource } from "../deployment/source.tsx";
import { CreateDeployment } from "./create-deployment.tsx";
import type { EnvironmentTabProps } from "./environment-page.tsx";

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
  const [isCreating, setCreating] = useState(false);
  const mayDeploy = can("createDeployment");
  const deploy = () => setCreating(true);
  useCommands(mayDeploy ? [["Deploy", deploy]] : []);
  return (
    <Section
      title="Deployments"
      actions={
        mayDeploy && (
          <Button kind="primary" onClick={deploy}>
            Deploy
          </Button>
        )
      }
    >
      <div class="filters">
        <ChoiceFilter
          name="status"
          label="Status"
          options={[["", "All"], ...STATUSES.map((each) => [each, humanize(each)] as const)]}
        />
      </div>
      <RecordList
        list={list}
        label="Deployments"
        keyOf={(deployment) => deployment.id}
        render={(deployment) => <DeploymentRow deployment={deployment} />}
        empty={
          <Empty
            title={status ? "No deployment has this status." : "Nothing was deployed yet."}
            next={
              mayDeploy &&
              !status && {
                text: "Deploy here, or with the command line:",
                command: `npx longshore deploy -e ${id} --wait`,
              }
            }
          />
        }
      />
      {isCreating && (
        <CreateDeployment environment={environment} onClose={() => setCreating(false)} />
      )}
    </Section>
  );
}

export function DeploymentRow({ deployment }: { deployment: Schemas["Deployment"] }) {
  const { id, status, data, created_at, finished_at, stack_ids } = deployment;
  return (
    <div class="list-item">
      <span>
        <a href={`${ROOT}deployments/${id}`}>{describeSource(data.source)}</a>{" "}
        <span class="soft small nowrap">
          {stack_ids.length} {stack_ids.length === 1 ? "stack" : "stacks"}
        </span>
      </span>
      <span class="row">
        <Status of={status} />
        <Time at={finished_at ?? created_at} />
      </span>
    </div>
  );
}
