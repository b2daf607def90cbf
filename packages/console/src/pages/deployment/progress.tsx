import type { Schemas } from "../../api.ts";
import { OutputUrl } from "../../components/output-url.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { formatDuration, formatExact, humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { SourceDetails } from "./source.tsx";

type Deployment = Schemas["Deployment"];

export function DeploymentFacts({ deployment }: { deployment: Deployment }) {
  const { id, data, created_by, reason, trigger, from_deployment_id } = deployment;
  const { runner, run_seconds } = deployment;
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
        runner && [
          "Runner",
          showHidden([runner.name, runner.pool.name].filter(Boolean).join(" of ")),
        ],
        run_seconds !== undefined && ["Duration", formatDuration(run_seconds * 1000)],
        ["ID", <code key="id">{id}</code>],
      ]}
    />
  );
}

function Creator({ creator }: { creator: Schemas["DeploymentCreator"] }) {
  const { name, membership_id, type, run_url } = creator;
  return (
    <>
      {showHidden(name ?? membership_id)}
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

interface TimelineProps {
  deployment: Deployment;
  projectId: string | undefined;
}

/** What has happened, and what is still to happen. */
export function Timeline({ deployment, projectId }: TimelineProps) {
  const { status, created_at, started_at, finished_at } = deployment;
  const steps = [
    ["Created", created_at],
    ...(started_at || !finished_at ? ([["Started by a runner", started_at]] as const) : []),
    [finished_at ? humanize(status) : "Ended", finished_at],
  ] as const;
  return (
    <Section title="Timeline">
      <ol class="timeline">
        {steps.map(([label, at]) => (
          <li key={label} class={at ? "" : "later"}>
            {label}{" "}
            {at ? (
              <span class="soft small">
                <Time at={at} />, {formatExact(at)}
              </span>
            ) : (
              <span class="soft small">not yet</span>
            )}
          </li>
        ))}
      </ol>
      {status === "queued" && (
        <Waiting reasons={deployment.waiting_for ?? []} projectId={projectId} />
      )}
    </Section>
  );
}

interface WaitingProps {
  reasons: readonly Schemas["WaitingReason"][];
  projectId: string | undefined;
}

function Waiting({ reasons, projectId }: WaitingProps) {
  const namesEnvironments = projectId !== undefined && reasons.some(({ code }) => code === "from");
  const environments = useList(
    namesEnvironments ? "/v1/projects/{project_id}/environments" : undefined,
    { path: { project_id: projectId ?? "" } },
  );
  const withNames = (message: string) =>
    (environments.items ?? []).reduce((text, { id, name }) => text.replaceAll(id, name), message);
  return (
    <ul class="list" aria-label="Waiting for">
      {reasons.map(({ code, message, deployment_id, opens_at, expires_at, pools = [] }) => (
        <li key={message}>
          <p>{showHidden(withNames(message))}</p>
          <p class="row soft small">
            {(opens_at ?? expires_at) && (
              <span>
                <TimeAfter words="Opens" at={opens_at} />
                <TimeAfter words="Ends without them" at={expires_at} />
              </span>
            )}
            {deployment_id && <a href={`${ROOT}deployments/${deployment_id}`}>The deployment</a>}
            {code === "pool" && <a href={`${ROOT}runners`}>Runners</a>}
            {pools.map(({ id, name, last_asked_at }) => (
              <span key={id}>
                <a href={`${ROOT}runners/${id}`}>{showHidden(name)}</a>
                <TimeAfter words=", last asked" at={last_asked_at} />
              </span>
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}

interface StackStatesProps {
  deployment: Deployment;
  /** Those of the environment, once they are read. */
  stacks: readonly Schemas["Stack"][] | undefined;
}

export function StackStates({ deployment, stacks = [] }: StackStatesProps) {
  const { stack_ids, data } = deployment;
  const states = new Map(data.stacks?.map((stack) => [stack.id, stack]));
  const stacksById = new Map(stacks.map((stack) => [stack.id, stack]));
  return (
    <Section title="Stacks">
      {stack_ids.length === 0 && <p class="soft">The deployment has no stacks.</p>}
      {stack_ids.length > 0 && (
        <ul class="list" aria-label="Stacks">
          {stack_ids.map((id) => {
            const state = states.get(id);
            const { name = id, outputs } = stacksById.get(id) ?? {};
            const url = state?.status === "succeeded" ? outputs?.["url"] : undefined;
            return (
              <li key={id}>
                <div class="list-item">
                  <span>
                    <a href={`${ROOT}stacks/${id}`}>{showHidden(name)}</a>
                    {url !== undefined && (
                      <div>
                        <OutputUrl url={url} />
                      </div>
                    )}
                  </span>
                  <Status of={state?.status ?? "pending"} />
                </div>
                {state?.status_reason && <p>{showHidden(state.status_reason)}</p>}
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}
