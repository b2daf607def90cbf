import type { ComponentChildren } from "preact";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status, toneOf } from "../../components/status.tsx";
import { Time, useSeconds } from "../../components/time.tsx";
import { formatDuration, humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { describeConditions } from "../protection/decisions.tsx";
import type { DeploymentTabProps } from "../tabs.ts";
import { Creator, DeploymentFacts } from "./facts.tsx";
import { ownReasonsOf, type Span, spanOf, statesOf } from "./stack-states.ts";

type Deployment = Schemas["Deployment"];

/** From the request to the end. */
export function TimelineTab({ deployment, stacks = [] }: DeploymentTabProps) {
  const { id, status, created_by, created_at, started_at, finished_at, overridden } = deployment;
  const { runner } = deployment;
  const now = useSeconds(finished_at === undefined);
  const scale = scaleOf(deployment, now);
  const started = timeOf(started_at);
  const finished = timeOf(finished_at);
  const approvals = useList(
    can("listApprovals", "viewer") ? "/v1/deployments/{deployment_id}/approvals" : undefined,
    { path: { deployment_id: id } },
    started ? "off" : "on",
  );
  const reasons = ownReasonsOf(deployment);
  return (
    <div class="stack loose">
      <Section title="Timeline">
        <ol class="list timeline" aria-label="Timeline">
          <Row
            at={created_at}
            name="Queued"
            span={{ start: scale.created, end: started ?? finished }}
            tone={scale.isShortened ? "shortened" : ""}
            scale={scale}
          >
            Requested{created_by && " by "}
            {created_by && <Creator creator={created_by} />}
          </Row>
          {approvals.items?.toReversed().map((approval) => (
            <Row key={approval.id} at={approval.created_at} detail={approval.comment}>
              {approval.decision === "approve" ? "Approved" : "Rejected"} by{" "}
              <bdi>{showHidden(approval.name ?? approval.membership_id)}</bdi>
            </Row>
          ))}
          {overridden && (
            <Row at={overridden.created_at} detail={overridden.reason}>
              Overridden: {describeConditions(overridden.conditions)}
            </Row>
          )}
          {started && (
            <Row
              at={started_at}
              name="Run"
              span={{ start: started, end: finished }}
              tone="busy"
              scale={scale}
            >
              Started{runner?.name !== undefined && ` on ${showHidden(runner.name)}`}
            </Row>
          )}
          {statesOf(deployment).map((state) => {
            const { name = state.id } = stacks.find((stack) => stack.id === state.id) ?? {};
            return (
              <Row
                key={state.id}
                name={name}
                span={spanOf(state)}
                tone={toneOf(state.status)}
                scale={scale}
                beside={<Status of={state.status} />}
                detail={reasons.get(state.id)}
              >
                <a href={`${ROOT}stacks/${state.id}`}>{showHidden(name)}</a>
              </Row>
            );
          })}
          {finished && <Row at={finished_at}>{humanize(status)}</Row>}
        </ol>
        {scale.isShortened && <p class="soft small">Queue time not to scale.</p>}
      </Section>
      <DeploymentFacts deployment={deployment} />
    </div>
  );
}

interface RowProps extends Partial<BarProps> {
  children: ComponentChildren;
  at?: string | undefined;
  beside?: ComponentChildren;
  /** What somebody wrote about it. */
  detail?: string | undefined;
}

function Row({ children, at, beside, detail, name, span, scale, tone = "" }: RowProps) {
  return (
    <li>
      <span>{children}</span>
      {name !== undefined && span && scale && (
        <Bar name={name} span={span} scale={scale} tone={tone} />
      )}
      <span class="end small">
        {at !== undefined && <Time at={at} />}
        {beside}
      </span>
      {detail !== undefined && <p class="soft">{showHidden(detail)}</p>}
    </li>
  );
}

/** At most that part of the width is for the queue: what runs stays visible after a long wait. */
const MOST_OF_QUEUE = 0.3;

interface Scale {
  now: number;
  created: number;
  /** Whether the bar of the queue is shorter than it was long. */
  isShortened: boolean;
  /** The place of a time, from 0 to 1. */
  at: (time: number) => number;
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function scaleOf({ created_at, started_at, finished_at }: Deployment, now: number): Scale {
  const created = Date.parse(created_at);
  const end = Math.max(timeOf(finished_at) ?? now, created + 1);
  const within = (time: number) => Math.min(Math.max(time, created), end);
  const started = within(timeOf(started_at) ?? end);
  const share = (started - created) / (end - created);
  const isShortened = started_at !== undefined && share > MOST_OF_QUEUE;
  const queue = isShortened ? MOST_OF_QUEUE : share;
  const at = (time: number) => {
    const point = within(time);
    if (point <= started) return (queue * (point - created)) / Math.max(1, started - created);
    return queue + ((1 - queue) * (point - started)) / (end - started);
  };
  return { now, created, isShortened, at };
}

interface BarProps {
  name: string;
  /** Undefined: it has not started. */
  span: Span | undefined;
  scale: Scale;
  tone: string;
}

/** From the start to the end, and how long that is. Its name says the same. */
function Bar({ name, span, scale, tone }: BarProps & { span: Span }) {
  const end = Math.max(span.end ?? scale.now, span.start);
  const left = scale.at(span.start);
  const after = (time: number) => formatDuration(time - scale.created);
  return (
    <>
      <span
        class="phase"
        role="img"
        aria-label={`${showHidden(name)}: from ${after(span.start)} to ${after(end)} after the creation${span.end ? "" : ", not ended yet"}`}
      >
        <span
          class={tone}
          style={{ left: `${left * 100}%`, width: `${(scale.at(end) - left) * 100}%` }}
        />
      </span>
      <span class="small soft">{formatDuration(end - span.start)}</span>
    </>
  );
}
