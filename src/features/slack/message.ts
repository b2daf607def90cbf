import type { EventType } from "../events/index.ts";
import { type Block, context, fields, header, section } from "./blocks.ts";
import { EventData, NAME_LENGTH } from "./event-data.ts";
import { moment, quote } from "./mrkdwn.ts";

/** An event, as webhooks get it. */
interface Payload {
  id: string;
  type: EventType;
  timestamp: string;
  data: unknown;
}

/** What Slack takes: blocks for those who see them, and a text for those who do not. */
export interface SlackMessage {
  text: string;
  blocks: Block[];
}

/** Of the names of stacks, of which there may be many. */
const STACK_NAME_LENGTH = 60;
const WORD_LENGTH = 30;
const REASON_LENGTH = 300;

const SHOWN_STACKS = 25;
/** As many as the longest lines leave room for in a section. */
const STACKS_PER_SECTION = 6;

const TITLES = {
  "deployments.in_progress": "🚀 Deployment in progress",
  "deployments.succeeded": "✅ Deployment succeeded",
  "deployments.failed": "❌ Deployment failed",
  "promotions.created": "⏫ Promotion",
  "services.in_alarm": "🚨 Service in alarm",
  "services.ok": "✅ Service OK",
  "changelog.created": "📝 Change",
  ping: "👋 Ping",
} as const satisfies Record<EventType, string>;

const STACK_SIGNS = new Map([
  ["pending", "⚪"],
  ["in_progress", "🔵"],
  ["succeeded", "🟢"],
  ["failed", "🔴"],
  ["canceled", "🟠"],
  ["skipped", "⚪"],
]);

/** What an event is about, in one line of mrkdwn without links, and in blocks. */
interface Story {
  subject: string;
  blocks: Block[];
}

const STORIES = {
  "deployments.in_progress": tellDeployment,
  "deployments.succeeded": tellDeployment,
  "deployments.failed": tellDeployment,
  "promotions.created": tellPromotion,
  "services.in_alarm": tellAlarm,
  "services.ok": tellAlarm,
  "changelog.created": tellChange,
  ping: tellPing,
} as const satisfies Record<EventType, (data: EventData, origin: string | undefined) => Story>;

/**
 * An event as a message for a channel. With `origin`, where people reach this service, it links to
 * the records that it names.
 */
export function toSlackMessage(payload: Payload, origin?: string): SlackMessage {
  const { id, type, timestamp, data } = payload;
  const title = TITLES[type];
  const { subject, blocks } = STORIES[type](new EventData(data), origin);
  return {
    text: `${title}: ${subject}`,
    blocks: [
      header(title),
      ...blocks,
      context(`${moment(timestamp)} · Event ${quote(id, NAME_LENGTH)}`),
    ],
  };
}

function tellDeployment(data: EventData, origin: string | undefined): Story {
  const reason = data.text("failure_reason", REASON_LENGTH);
  return {
    subject: placeOf(data),
    blocks: [
      fields({
        Project: data.in("project").named("project", origin),
        Environment: data.in("environment").named("environment", origin),
        Deployment: data.reference("deployment_id", "deployment", origin),
      }),
      ...(reason ? [section(`*Reason*\n${reason}`)] : []),
      ...sectionsOf(data.list("stacks").slice(0, SHOWN_STACKS).map(tellStack)),
    ],
  };
}

function tellStack(stack: EventData): string {
  const status = stack.text("status", WORD_LENGTH);
  const sign = STACK_SIGNS.get(status) ?? "⚪";
  return `${sign} ${stack.name(STACK_NAME_LENGTH)}: ${status.replaceAll("_", " ")}`;
}

function sectionsOf(lines: readonly string[]): Block[] {
  const count = Math.ceil(lines.length / STACKS_PER_SECTION);
  return Array.from({ length: count }, (_, at) => {
    const first = at * STACKS_PER_SECTION;
    return section(lines.slice(first, first + STACKS_PER_SECTION).join("\n"));
  });
}

function tellPromotion(data: EventData, origin: string | undefined): Story {
  const from = data.in("from_environment");
  return {
    subject: `${placeOf(data)}, from ${from.name()}`,
    blocks: [
      fields({
        Project: data.in("project").named("project", origin),
        From: from.named("environment", origin),
        To: data.in("environment").named("environment", origin),
        Deployment: data.reference("deployment_id", "deployment", origin),
        "Promoted deployment": data.reference("from_deployment_id", "deployment", origin),
      }),
    ],
  };
}

function tellAlarm(data: EventData, origin: string | undefined): Story {
  const reason = data.text("reason", REASON_LENGTH);
  return {
    subject: `${data.name()} of ${data.in("stack").name()} in ${placeOf(data)}`,
    blocks: [
      fields({
        Alarm: data.name(),
        Stack: data.in("stack").named("stack", origin),
        Project: data.in("project").named("project", origin),
        Environment: data.in("environment").named("environment", origin),
      }),
      ...(reason ? [section(`*Reason*\n${reason}`)] : []),
    ],
  };
}

function tellChange(data: EventData, origin: string | undefined): Story {
  const record = data.in("record");
  const type = record.text("type", WORD_LENGTH);
  const what = type.replaceAll("_", " ");
  const action = data.text("action", WORD_LENGTH);
  const shown = record.named(type, action === "deleted" ? undefined : origin);
  return {
    subject: `${what} ${record.name()} was ${action}`,
    blocks: [section(`The ${what} ${shown} was ${action}.`)],
  };
}

function tellPing(): Story {
  const subject = "messages of Longshore arrive here.";
  return { subject, blocks: [section("Somebody asked whether messages arrive here. They do.")] };
}

function placeOf(data: EventData): string {
  return `${data.in("project").name()} / ${data.in("environment").name()}`;
}
