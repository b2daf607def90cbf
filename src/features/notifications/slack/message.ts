import type { EventType } from "../events.ts";
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
const CHANGES_PER_SECTION = 2;
const SHOWN_CHANGES = 6;

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

/** The content of a message: one line of mrkdwn without links, and blocks. */
interface MessageContent {
  subject: string;
  blocks: Block[];
}

const RENDERERS = {
  "deployments.in_progress": renderDeployment,
  "deployments.succeeded": renderDeployment,
  "deployments.failed": renderDeployment,
  "promotions.created": renderPromotion,
  "services.in_alarm": renderAlarm,
  "services.ok": renderAlarm,
  "changelog.created": renderChangelog,
  ping: renderPing,
} as const satisfies Record<
  EventType,
  (data: EventData, origin: string | undefined) => MessageContent
>;

/**
 * An event as a message for a channel. With `origin`, where people reach this service, it links to
 * the records that it names.
 */
export function toSlackMessage(payload: Payload, origin?: string): SlackMessage {
  const { id, type, timestamp, data } = payload;
  const title = TITLES[type];
  const { subject, blocks } = RENDERERS[type](new EventData(data), origin);
  return {
    text: `${title}: ${subject}`,
    blocks: [
      header(title),
      ...blocks,
      context(`${moment(timestamp)} · Event ${quote(id, NAME_LENGTH)}`),
    ],
  };
}

function renderDeployment(data: EventData, origin: string | undefined): MessageContent {
  const reason = data.text("failure_reason", REASON_LENGTH);
  return {
    subject: locationOf(data),
    blocks: [
      fields({
        Project: data.in("project").named("project", origin),
        Environment: data.in("environment").named("environment", origin),
        Deployment: data.reference("deployment_id", "deployment", origin),
      }),
      ...(reason ? [section(`*Reason*\n${reason}`)] : []),
      ...sectionsOf(
        data.list("stacks").slice(0, SHOWN_STACKS).map(renderStack),
        STACKS_PER_SECTION,
      ),
    ],
  };
}

function renderStack(stack: EventData): string {
  const status = stack.text("status", WORD_LENGTH);
  const sign = STACK_SIGNS.get(status) ?? "⚪";
  return `${sign} ${stack.name(STACK_NAME_LENGTH)}: ${status.replaceAll("_", " ")}`;
}

function sectionsOf(lines: readonly string[], perSection: number): Block[] {
  const count = Math.ceil(lines.length / perSection);
  return Array.from({ length: count }, (_, at) => {
    const first = at * perSection;
    return section(lines.slice(first, first + perSection).join("\n"));
  });
}

function renderPromotion(data: EventData, origin: string | undefined): MessageContent {
  const from = data.in("from_environment");
  return {
    subject: `${locationOf(data)}, from ${from.name()}`,
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

function renderAlarm(data: EventData, origin: string | undefined): MessageContent {
  const reason = data.text("reason", REASON_LENGTH);
  return {
    subject: `${data.name()} of ${data.in("stack").name()} in ${locationOf(data)}`,
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

function renderChangelog(data: EventData, origin: string | undefined): MessageContent {
  const count = data.count("count");
  if (count <= 1) return renderChange(data, origin);
  const shown = data.list("entries").slice(0, SHOWN_CHANGES);
  const lines = shown.map((entry) => `• ${renderLine(entry, origin)}`);
  const rest = count - lines.length;
  return {
    subject: `${count} changes`,
    blocks: [
      section(`*${count} changes*`),
      ...sectionsOf(lines, CHANGES_PER_SECTION),
      ...(rest > 0 ? [section(`and ${rest} more`)] : []),
    ],
  };
}

function renderChange(data: EventData, origin: string | undefined): MessageContent {
  const record = data.in("record");
  const what = record.text("type", WORD_LENGTH).replaceAll("_", " ");
  const action = data.text("action", WORD_LENGTH);
  return {
    subject: `${what} ${record.name()} was ${action}`,
    blocks: [section(renderLine(data, origin))],
  };
}

function renderLine(entry: EventData, origin: string | undefined): string {
  const record = entry.in("record");
  const type = record.text("type", WORD_LENGTH);
  const action = entry.text("action", WORD_LENGTH);
  const shown = record.named(type, action === "deleted" ? undefined : origin);
  return `The ${type.replaceAll("_", " ")} ${shown} was ${action}.`;
}

function renderPing(): MessageContent {
  const subject = "messages of Longshore arrive here.";
  return { subject, blocks: [section("Somebody asked whether messages arrive here. They do.")] };
}

function locationOf(data: EventData): string {
  return `${data.in("project").name()} / ${data.in("environment").name()}`;
}
