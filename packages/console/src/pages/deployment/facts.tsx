import type { Schemas } from "../../api.ts";
import { Facts } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, joinNames, showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";
import { SourceDetails } from "./source.tsx";

type Deployment = Schemas["Deployment"];

export function DeploymentFacts({ deployment }: { deployment: Deployment }) {
  const { id, status, data, created_by, reason, trigger, from_deployment_id } = deployment;
  const { runner, created_at, finished_at, continue_on_failure } = deployment;
  return (
    <Facts
      facts={[
        ["Source", <SourceDetails key="source" source={data.source} />],
        created_by && ["Created by", <Creator key="creator" creator={created_by} />],
        reason && ["Reason", showHidden(reason)],
        from_deployment_id && [
          humanize(trigger ?? "copy"),
          <a key="from" href={`${ROOT}deployments/${from_deployment_id}`}>
            of a deployment
          </a>,
        ],
        continue_on_failure && ["If a stack fails", "Stacks that don't need it are deployed"],
        runner && [
          "Runner",
          joinNames(
            [runner.name, runner.pool.name].flatMap((name) => name ?? []),
            " of ",
          ),
        ],
        ["Created", <Time key="created" at={created_at} />],
        finished_at && [humanize(status), <Time key="finished" at={finished_at} />],
        ["ID", <code key="id">{id}</code>],
      ]}
    />
  );
}

/** Who it is now called, and the job of a CI system. */
export function Creator({ creator }: { creator: Schemas["DeploymentCreator"] }) {
  const { name, membership_id, type, run_url } = creator;
  return (
    <>
      <bdi>{showHidden(name ?? membership_id)}</bdi>
      {type !== "person" && <span class="soft"> ({type === "ci" ? "CI" : "service account"})</span>}
      {run_url && (
        <>
          {" "}
          <a href={run_url} target="_blank" rel="noreferrer">
            Run
          </a>
        </>
      )}
    </>
  );
}
