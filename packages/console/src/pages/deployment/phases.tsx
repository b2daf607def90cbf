import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../../api.ts";
import { OutputUrl } from "../../components/output-url.tsx";
import { Section } from "../../components/page.tsx";
import { Status, toneOf } from "../../components/status.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";
import { Waiting } from "./waiting.tsx";

type Deployment = Schemas["Deployment"];

interface PhasesProps {
  deployment: Deployment;
  /** Those of the environment, once they are read. */
  stacks: readonly Schemas["Stack"][] | undefined;
}

/** How long the deployment and each of its stacks took, and what is still to happen. */
export function Phases({ deployment, stacks }: PhasesProps) {
  const { status, started_at, finished_at } = deployment;
  const now = useSeconds(finished_at === undefined);
  const scale = scaleOf(deployment, now);
  const started = started_at && Date.parse(started_at);
  const finished = finished_at && Date.parse(finished_at);
  return (
    <Section title="Phases and stacks">
      <ul class="list phases" aria-label="Phases">
        <li>
          Queued
          <Bar
            of="Queued"
            span={{ start: scale.created, end: started || finished }}
            scale={scale}
            tone={scale.isShortened ? "shortened" : ""}
          />
        </li>
        {started && (
          <li>
            Run
            <Bar of="Run" span={{ start: started, end: finished }} scale={scale} tone="busy" />
          </li>
        )}
      </ul>
      {scale.isShortened && (
        <p class="soft small">The bar of the long time in the queue is shortened.</p>
      )}
      {status === "queued" && <Waiting reasons={deployment.waiting_for ?? []} />}
      <Stacks deployment={deployment} stacks={stacks} scale={scale} />
    </Section>
  );
}

/** The present time, each second while `isLive`. */
function useSeconds(isLive: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isLive]);
  return now;
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

function scaleOf({ created_at, started_at, finished_at }: Deployment, now: number): Scale {
  const created = Date.parse(created_at);
  const end = Math.max(finished_at ? Date.parse(finished_at) : now, created + 1);
  const within = (time: number) => Math.min(Math.max(time, created), end);
  const started = started_at ? within(Date.parse(started_at)) : end;
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

interface StacksProps extends Pick<PhasesProps, "deployment" | "stacks"> {
  scale: Scale;
}

function Stacks({ deployment, stacks = [], scale }: StacksProps) {
  const { stack_ids, data } = deployment;
  const states = new Map(data.stacks?.map((stack) => [stack.id, stack]));
  const stacksById = new Map(stacks.map((stack) => [stack.id, stack]));
  if (stack_ids.length === 0) return <p class="soft">The deployment has no stacks.</p>;
  return (
    <ul class="list phases" aria-label="Stacks">
      {stack_ids.map((id) => {
        const state = states.get(id);
        const status = state?.status ?? "pending";
        const { name = id, outputs } = stacksById.get(id) ?? {};
        const url = status === "succeeded" ? outputs?.["url"] : undefined;
        return (
          <li key={id}>
            <a href={`${ROOT}stacks/${id}`}>{showHidden(name)}</a>
            <Bar of={name} span={spanOf(state)} scale={scale} tone={toneOf(status)} />
            <Status of={status} />
            {url !== undefined && (
              <p>
                <OutputUrl url={url} />
              </p>
            )}
            {state?.status_reason && <p>{showHidden(state.status_reason)}</p>}
          </li>
        );
      })}
    </ul>
  );
}

/** In milliseconds since the epoch. Without an end, it lasts until now. */
interface Span {
  start: number;
  end: number | undefined | "";
}

/** Undefined for a stack that has not started. */
function spanOf(stack: Schemas["StackOfDeployment"] | undefined): Span | undefined {
  if (stack?.started_at === undefined) return undefined;
  const isRunning = stack.status === "in_progress";
  return {
    start: Date.parse(stack.started_at),
    end: isRunning ? undefined : Date.parse(stack.timestamp),
  };
}

interface BarProps {
  of: string;
  span: Span | undefined;
  scale: Scale;
  tone: string;
}

/** From the start to the end, and how long that is. Its name says the same. */
function Bar({ of: name, span, scale, tone }: BarProps) {
  if (!span) return null;
  const end = Math.max(span.end || scale.now, span.start);
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
