import type { ComponentChildren } from "preact";
import type { Can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { Near } from "../../components/near.tsx";
import { OutputUrl } from "../../components/output-url.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";
import { PromoteDeployment } from "../deployment/copies.tsx";
import { Creator } from "../deployment/facts.tsx";
import { RollbackOfEnvironment } from "../deployment/rollback.tsx";
import { describeSource, SourceDetails } from "../deployment/source.tsx";
import { approvePath } from "../protection/decisions.tsx";
import { DeploymentStrip } from "./deployment-strip.tsx";

/** The height of a small button. */
const ROLLBACK_PX = 28;

type Environment = Schemas["EnvironmentOverview"];

interface EnvironmentColumnProps {
  environment: Environment;
  /** The one after it in the order. */
  next: Environment | undefined;
  projectId: string;
  can: Can;
  /** Moves it. Absent: the order cannot be changed. */
  handle: ComponentChildren;
}

/** What a person wants to know of an environment, in rows that are the same for all columns. */
export function EnvironmentColumn(props: EnvironmentColumnProps) {
  const { environment, next, projectId, can, handle } = props;
  const { id, name, current_deployment: current, recent_deployments } = environment;
  return (
    <li class="column" data-movable={id}>
      <div class="row between">
        <h3>
          <a href={`${ROOT}environments/${id}`}>{showHidden(name)}</a>
        </h3>
        {handle}
      </div>
      <Cell label="Runs">
        {current ? <Current deployment={current} /> : <span class="soft">Nothing yet</span>}
        {environment.url !== undefined && (
          <div>
            <OutputUrl url={environment.url} />
          </div>
        )}
      </Cell>
      <Cell label="Health">
        <Health environment={environment} />
      </Cell>
      <Cell label="Now">
        <Now environment={environment} />
      </Cell>
      <Cell label="Last deployments">
        {recent_deployments.length > 0 ? (
          <DeploymentStrip name={showHidden(name)} deployments={recent_deployments} />
        ) : (
          <span class="soft">None</span>
        )}
      </Cell>
      <div class="row">
        {next && current && can("promoteDeployment") && (
          <PageButtons
            buttons={[
              {
                verb: `Promote to ${showHidden(next.name)}`,
                kind: "small",
                dialog: ({ onClose }) => (
                  <PromoteDeployment
                    deployment={{ id: current.id, environment_id: id }}
                    projectId={projectId}
                    to={next.id}
                    onClose={onClose}
                  />
                ),
              },
            ]}
          />
        )}
        <Near estimatedHeight={ROLLBACK_PX}>
          {() => <RollbackOfEnvironment environment={environment} can={can} />}
        </Near>
      </div>
    </li>
  );
}

function Cell({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <span class="soft small">{label}</span>
      <div>{children}</div>
    </div>
  );
}

function Current({ deployment }: { deployment: Schemas["DeploymentSummary"] }) {
  const { id, source, created_by, created_at, finished_at, reason } = deployment;
  return (
    <>
      <SourceDetails source={source} />
      {reason !== undefined && <div>{showHidden(reason)}</div>}
      <div class="small">
        <a href={`${ROOT}deployments/${id}`}>
          since <Time at={finished_at ?? created_at} />
        </a>
        {created_by && (
          <>
            {" "}
            by <Creator creator={created_by} />
          </>
        )}
      </div>
    </>
  );
}

function Health({ environment: { health, alarms } }: { environment: Environment }) {
  if (!health) return <span class="soft">No alarm is set up</span>;
  return (
    <>
      <Status of={health} />
      {alarms.map(({ stack_id, stack_name, name, reason }) => (
        <div key={`${stack_id} ${name}`} class="small">
          <a href={`${ROOT}stacks/${stack_id}`}>{joinNames([stack_name, name], ": ")}</a>{" "}
          {reason !== undefined && <bdi>{showHidden(reason)}</bdi>}
        </div>
      ))}
    </>
  );
}

/** What is in progress, what waits, and a failure that the next success has not mended. */
function Now({ environment }: { environment: Environment }) {
  const { active_deployment: active, last_deployment: last, current_deployment } = environment;
  const isRunning = active !== undefined && active.status !== "queued";
  const shown = isRunning ? active : last;
  const isNews = isRunning || (last !== undefined && last.id !== current_deployment?.id);
  if (!isNews && environment.queue.length === 0) return <span class="soft">Nothing</span>;
  return (
    <>
      {isNews && shown && (
        <div class="row">
          <a href={`${ROOT}deployments/${shown.id}`}>
            <Status of={shown.status} />
          </a>
          <span class="soft small">{describeSource(shown.source)}</span>
          <span class="small">
            <Time at={shown.finished_at ?? shown.started_at ?? shown.created_at} />
          </span>
        </div>
      )}
      {environment.queue.map((queued) => (
        <Queued key={queued.id} deployment={queued} />
      ))}
    </>
  );
}

function Queued({ deployment }: { deployment: Schemas["QueuedDeployment"] }) {
  const { id, created_at, awaits_approval, opens_at } = deployment;
  return (
    <div class="row">
      <a href={`${ROOT}deployments/${id}`}>
        <Status of="queued" />
      </a>
      <span class="small">
        <Time at={created_at} />
        {awaits_approval && (
          <>
            , <a href={approvePath(id)}>waits for approval</a>
          </>
        )}
        <TimeAfter words=", opens" at={opens_at} />
      </span>
    </div>
  );
}
