import { canonicalId } from "../../../lib/ids.ts";
import { EVENTS, type EventType } from "../../housekeeping/outbox/events.ts";
import type { Payload } from "../../housekeeping/outbox/model.ts";
import type { EventData } from "../events/event-payloads.ts";
import {
  type Block,
  context,
  dateTime,
  fields,
  header,
  link,
  quote,
  section,
} from "./block-kit.ts";
import { readCount, readList, readText, readTime, readUrl, type Stored } from "./stored-data.ts";

export interface SlackMessage {
  text: string;
  blocks: Block[];
}

/** In characters before escaping. A message is under 20 KB, however long the stored texts are. */
const NAME_LENGTH = 100;
const STACK_NAME_LENGTH = 60;
const WORD_LENGTH = 30;
const REASON_LENGTH = 300;

const MAXIMUM_STACKS = 25;
/** A section has room for this many of the longest lines. */
const STACKS_PER_SECTION = 6;
/** Of a link with a URL, as it is sent. */
export const URL_LENGTH = 500;
/** They have one section. */
export const MAXIMUM_URLS = 3;
const MAXIMUM_CHANGES = 6;
const CHANGES_PER_SECTION = 2;

const MAXIMUM_CODES = 10;

const UNKNOWN = "unknown";

const STACK_SIGNS = new Map([
  ["pending", "⚪"],
  ["in_progress", "🔵"],
  ["succeeded", "🟢"],
  ["failed", "🔴"],
  ["canceled", "🟠"],
  ["skipped", "⚪"],
]);

/** The resource types with a page of the console, which the plural of the type leads to. */
const WITH_PAGE = new Set(["project", "environment", "stack", "deployment"]);

interface MessageContent {
  /** One line of mrkdwn without links. */
  subject: string;
  blocks: Block[];
}

type Renderer<Type extends EventType> = (
  data: Stored<EventData<Type>>,
  origin: string | undefined,
) => MessageContent;

const RENDERERS: { [Type in EventType]: Renderer<Type> } = {
  "deployments.in_progress": renderDeployment,
  "deployments.succeeded": renderDeployment,
  "deployments.failed": renderDeployment,
  "promotions.created": renderPromotion,
  "approvals.requested": renderRequest,
  "approvals.given": renderDecision,
  "approvals.rejected": renderDecision,
  "deployments.overridden": renderOverride,
  "freezes.created": renderFreeze,
  "freezes.deleted": renderFreeze,
  "services.in_alarm": renderAlarm,
  "services.ok": renderAlarm,
  "changelog.created": renderChangelog,
  ping: renderPing,
};

/**
 * The names of resources link to `origin`, the origin of this service.
 * @param creator What who created the deployment is called, if it is known.
 */
export function toSlackMessage(
  payload: Payload,
  origin?: string,
  creator?: string | null,
): SlackMessage {
  const { id, type, timestamp } = payload;
  const data = creator ? { ...(payload.data as object), creator } : payload.data;
  const { icon, title } = EVENTS[type];
  const heading = `${icon} ${title}`;
  const { subject, blocks } = render(type, data, origin);
  return {
    text: `${heading}: ${subject}`,
    blocks: [
      header(heading),
      ...blocks,
      context(`${dateTime(timestamp)} · Event ${quote(id, NAME_LENGTH)}`),
    ],
  };
}

function render<Type extends EventType>(type: Type, data: unknown, origin: string | undefined) {
  return RENDERERS[type](data as Stored<EventData<Type>>, origin);
}

/** Of a success, which has what all have. */
type DeploymentData = EventData<"deployments.succeeded"> & { creator?: string };

function renderDeployment(
  data: Stored<DeploymentData>,
  origin: string | undefined,
): MessageContent {
  return {
    subject: locationOf(data),
    blocks: [
      fields({
        Project: linkedName("project", data?.project, origin),
        Environment: linkedName("environment", data?.environment, origin),
        Deployment: linkedDeployment(data?.deployment_id, origin),
        ...renderPeopleAndTimes(data),
      }),
      ...renderText("Why", readText(data?.reason, NAME_LENGTH)),
      ...toSections(renderUrls(data), MAXIMUM_URLS),
      ...renderText("Reason", readText(data?.failure_reason, REASON_LENGTH)),
      ...toSections(
        readList(data?.stacks).slice(0, MAXIMUM_STACKS).map(renderStack),
        STACKS_PER_SECTION,
      ),
    ],
  };
}

function renderPeopleAndTimes(data: Stored<DeploymentData>): Record<string, string> {
  const creator = readText(data?.creator, NAME_LENGTH);
  const hasRun = typeof data?.run_seconds === "number";
  return {
    ...(creator && { By: creator }),
    ...(hasRun && {
      Took: `${renderSeconds(data.run_seconds)}, after ${renderSeconds(data.queued_seconds)} in the queue`,
    }),
  };
}

/** `42 s`, `3 min 5 s`. */
function renderSeconds(value: unknown): string {
  const seconds = readCount(value);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}

/** The URLs that it has deployed to, which come before all other outputs. */
function renderUrls(data: Stored<DeploymentData>): string[] {
  const stacks = readList(data?.stacks);
  return readList(data?.outputs)
    .slice(0, MAXIMUM_URLS)
    .flatMap((output) => {
      const url = output?.name === "url" ? readUrl(output.value, URL_LENGTH) : "";
      const stack = stacks.find((each) => each?.id === output?.stack_id);
      return url ? `${nameOf(stack, STACK_NAME_LENGTH)}: ${url}` : [];
    });
}

function renderStack(stack: Stored<DeploymentData["stacks"][number]>): string {
  const status = readText(stack?.status, WORD_LENGTH);
  const sign = STACK_SIGNS.get(status) ?? "⚪";
  return `${sign} ${nameOf(stack, STACK_NAME_LENGTH)}: ${status.replaceAll("_", " ")}`;
}

function renderPromotion(
  data: Stored<EventData<"promotions.created">>,
  origin: string | undefined,
): MessageContent {
  const source = data?.from_environment;
  return {
    subject: `${locationOf(data)}, from ${nameOf(source)}`,
    blocks: [
      fields({
        Project: linkedName("project", data?.project, origin),
        From: linkedName("environment", source, origin),
        To: linkedName("environment", data?.environment, origin),
        Deployment: linkedDeployment(data?.deployment_id, origin),
        "Promoted deployment": linkedDeployment(data?.from_deployment_id, origin),
      }),
    ],
  };
}

type HeldData = Pick<DeploymentData, "deployment_id" | "project" | "environment">;

/** @param deployment The link to its page. */
function renderHeld(
  data: Stored<HeldData>,
  origin: string | undefined,
  deployment: string,
  ...rest: readonly Block[]
): MessageContent {
  return {
    subject: locationOf(data),
    blocks: [
      fields({
        Project: linkedName("project", data?.project, origin),
        Environment: linkedName("environment", data?.environment, origin),
        Deployment: deployment,
      }),
      ...rest,
    ],
  };
}

/** The link leads to the page on which people decide. No message decides by itself. */
function renderRequest(
  data: Stored<EventData<"approvals.requested">>,
  origin: string | undefined,
): MessageContent {
  const page = linkedDeployment(data?.deployment_id, origin, "/approve");
  return renderHeld(
    data,
    origin,
    page,
    ...renderText("Has", readText(data?.message, REASON_LENGTH)),
  );
}

function renderDecision(
  data: Stored<EventData<"approvals.given">>,
  origin: string | undefined,
): MessageContent {
  const page = linkedDeployment(data?.deployment_id, origin);
  const comment = readText(data?.comment, REASON_LENGTH);
  return renderHeld(data, origin, page, ...renderText("Comment", comment));
}

function renderOverride(
  data: Stored<EventData<"deployments.overridden">>,
  origin: string | undefined,
): MessageContent {
  const codes = readList(data?.conditions)
    .slice(0, MAXIMUM_CODES)
    .map((code) => readText(code, WORD_LENGTH));
  return renderHeld(
    data,
    origin,
    linkedDeployment(data?.deployment_id, origin),
    ...renderText("Without", codes.join(", ")),
    ...renderText("Reason", readText(data?.reason, REASON_LENGTH)),
  );
}

function renderFreeze(
  data: Stored<EventData<"freezes.created">>,
  origin: string | undefined,
): MessageContent {
  const name = readText(data?.name, NAME_LENGTH) || UNKNOWN;
  return {
    subject: `${name} of ${nameOf(data?.project)}`,
    blocks: [
      fields({
        Freeze: name,
        Project: linkedName("project", data?.project, origin),
        From: readTime(data?.starts_at),
        To: readTime(data?.ends_at),
      }),
      ...renderText("Reason", readText(data?.reason, REASON_LENGTH)),
    ],
  };
}

function renderAlarm(
  data: Stored<EventData<"services.in_alarm" | "services.ok">>,
  origin: string | undefined,
): MessageContent {
  const name = readText(data?.name, NAME_LENGTH) || UNKNOWN;
  const stack = data?.stack;
  return {
    subject: `${name} of ${nameOf(stack)} in ${locationOf(data)}`,
    blocks: [
      fields({
        Alarm: name,
        Stack: linkedName("stack", stack, origin),
        Project: linkedName("project", data?.project, origin),
        Environment: linkedName("environment", data?.environment, origin),
      }),
      ...renderText("Reason", readText(data?.reason, REASON_LENGTH)),
    ],
  };
}

type ChangelogData = EventData<"changelog.created">;
type ChangeData = Pick<ChangelogData, "action" | "record">;

function renderChangelog(data: Stored<ChangelogData>, origin: string | undefined): MessageContent {
  const count = readCount(data?.count);
  // Data from before `entries` has no count, and its one change at the top level.
  if (count <= 1) return renderChange(data, origin);
  const entries = readList(data?.entries).slice(0, MAXIMUM_CHANGES);
  const lines = entries.map((entry) => `• ${describeChange(entry, origin)}`);
  const rest = count - lines.length;
  return {
    subject: `${count} changes`,
    blocks: [
      section(`*${count} changes*`),
      ...toSections(lines, CHANGES_PER_SECTION),
      ...(rest > 0 ? [section(`and ${rest} more`)] : []),
    ],
  };
}

function renderChange(change: Stored<ChangeData>, origin: string | undefined): MessageContent {
  const record = change?.record;
  const type = readText(record?.type, WORD_LENGTH).replaceAll("_", " ");
  const action = readText(change?.action, WORD_LENGTH);
  return {
    subject: `${type} ${nameOf(record)} ${verbOf(action)}`,
    blocks: [section(describeChange(change, origin))],
  };
}

function describeChange(change: Stored<ChangeData>, origin: string | undefined): string {
  const record = change?.record;
  const type = readText(record?.type, WORD_LENGTH);
  const action = readText(change?.action, WORD_LENGTH);
  const name = linkedName(type, record, action === "deleted" ? undefined : origin);
  return `The ${type.replaceAll("_", " ")} ${name} ${verbOf(action)}.`;
}

function verbOf(action: string): string {
  return action === "failing" ? "is failing" : `was ${action}`;
}

function renderPing(): MessageContent {
  const subject = "messages of Longshore arrive here.";
  return { subject, blocks: [section("Somebody asked whether messages arrive here. They do.")] };
}

function renderText(label: string, text: string): Block[] {
  return text ? [section(`*${label}*\n${text}`)] : [];
}

function toSections(lines: readonly string[], perSection: number): Block[] {
  const count = Math.ceil(lines.length / perSection);
  return Array.from({ length: count }, (_, at) => {
    const first = at * perSection;
    return section(lines.slice(first, first + perSection).join("\n"));
  });
}

type NamedResource = Stored<{ id: string; name?: string }>;

function locationOf(data: Stored<Pick<DeploymentData, "project" | "environment">>): string {
  return `${nameOf(data?.project)} / ${nameOf(data?.environment)}`;
}

function nameOf(record: NamedResource, maximumLength = NAME_LENGTH): string {
  return readText(record?.name, maximumLength) || readText(record?.id, maximumLength) || UNKNOWN;
}

function linkedName(type: string, record: NamedResource, origin: string | undefined): string {
  return linkTo(type, readText(record?.id, NAME_LENGTH), nameOf(record), origin);
}

function linkedDeployment(stored: unknown, origin: string | undefined, page = ""): string {
  const id = readText(stored, NAME_LENGTH);
  return linkTo("deployment", id, id || UNKNOWN, origin, page);
}

/** @param page Below the page of the resource. */
function linkTo(
  type: string,
  id: string,
  label: string,
  origin: string | undefined,
  page = "",
): string {
  if (!origin || !WITH_PAGE.has(type) || canonicalId(id) === undefined) return label;
  return link(`${origin}/console/${type}s/${id}${page}`, label);
}
