import type { Schemas } from "../../api.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Facts } from "../../components/page.tsx";
import { Time, useSeconds } from "../../components/time.tsx";
import { formatDuration, humanize, joinNames, showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";
import { branchOf, CommitLink, repositoryName, titleOf } from "./source.tsx";

type Deployment = Schemas["Deployment"];

/** The line below the title: what was deployed, by whom, when, and how long it took. */
export function Summary({ deployment }: { deployment: Deployment }) {
  const { data, created_by, created_at, started_at, reason, trigger } = deployment;
  const { from_deployment_id } = deployment;
  const { git, registry, verified } = data.source ?? {};
  const items = [
    git && <bdi>{repositoryName(git)}</bdi>,
    git && <bdi>{branchOf(git)}</bdi>,
    git && (
      <>
        <CommitLink git={git} /> <CopyButton text={git.commit.sha} what="Commit" />
      </>
    ),
    verified && "verified by its CI job",
    registry && (
      <>
        <code>{showHidden(registry.image)}</code> <CopyButton text={registry.image} what="Image" />
      </>
    ),
    created_by && <Creator creator={created_by} />,
    <Time key="created" at={created_at} />,
    started_at !== undefined && <Duration key="duration" deployment={deployment} />,
    from_deployment_id && (
      <a href={`${ROOT}deployments/${from_deployment_id}`}>
        {humanize(trigger ?? "copy")} of a deployment
      </a>
    ),
    reason !== titleOf(deployment) && reason && <bdi>{showHidden(reason)}</bdi>,
  ];
  return (
    <ul class="summary soft small" aria-label="Summary">
      {items.map((item, at) => item && <li key={at}>{item}</li>)}
    </ul>
  );
}

function Duration({ deployment }: { deployment: Deployment }) {
  const { started_at, finished_at, run_seconds } = deployment;
  const isRunning = started_at !== undefined && finished_at === undefined;
  const now = useSeconds(isRunning);
  if (isRunning) return <>running for {formatDuration(now - Date.parse(started_at))}</>;
  return run_seconds === undefined ? null : <>took {formatDuration(run_seconds * 1000)}</>;
}

/** What few people need. */
export function DeploymentFacts({ deployment }: { deployment: Deployment }) {
  const { id, runner, continue_on_failure } = deployment;
  return (
    <Facts
      facts={[
        runner && [
          "Runner",
          joinNames(
            [runner.name, runner.pool.name].flatMap((name) => name ?? []),
            " of ",
          ),
        ],
        continue_on_failure && ["If a stack fails", "Stacks that don't need it are deployed"],
        [
          "ID",
          <>
            <code>{id}</code> <CopyButton text={id} what="ID" />
          </>,
        ],
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
