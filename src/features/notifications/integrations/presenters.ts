import { toTimestamp } from "../../../lib/clock.ts";
import { maskHost } from "../../../lib/mask-url.ts";
import type { Change, Fields } from "../../housekeeping/changelog/index.ts";
import { NOTIFICATION_KINDS } from "../../housekeeping/outbox/events.ts";
import {
  type Configuration,
  isConfirmed,
  type PartialConfiguration,
  type SlackChannel,
} from "./model.ts";
import type { IntegrationRow } from "./store.ts";

export function toConfiguration(flags: PartialConfiguration): Configuration {
  const entries = NOTIFICATION_KINDS.map((kind) => [kind, flags[kind] ?? false] as const);
  return Object.fromEntries(entries) as Configuration;
}

export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    type: row.type,
    configuration: toConfiguration(JSON.parse(row.configuration)),
    url: row.type === "webhook" ? row.maskedUrl : undefined,
    slack: row.slackChannel === null ? undefined : presentChannel(JSON.parse(row.slackChannel)),
    environment_ids: row.environmentIds === null ? undefined : readIds(row.environmentIds),
    stack_ids: row.stackIds === null ? undefined : readIds(row.stackIds),
    confirmed: isConfirmed(row),
    confirm_by: row.confirmBy === null ? undefined : toTimestamp(row.confirmBy),
    failing_since: row.failingSince === null ? undefined : toTimestamp(row.failingSince),
    paused_until: row.pausedUntil === null ? undefined : toTimestamp(row.pausedUntil),
    disabled_at: row.disabledAt === null ? undefined : toTimestamp(row.disabledAt),
    disabled_reason: row.disabledReason ?? undefined,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

const readIds = (json: string): string[] => JSON.parse(json);

function presentChannel({ workspaceId, workspaceName, channelId, channelName }: SlackChannel) {
  return {
    workspace_id: workspaceId,
    workspace_name: workspaceName,
    channel_id: channelId,
    channel_name: channelName,
  };
}

export function presentSecret({ secret }: { secret: string }) {
  return { secret };
}

export function presentRotatedSecret({
  secret,
  previousSecretUntil,
}: {
  secret: string;
  previousSecretUntil: number;
}) {
  return { secret, previous_secret_until: toTimestamp(previousSecretUntil) };
}

/** The changelog names a webhook by its masked host. */
export function toChange<Action extends Change["action"]>(
  action: Action,
  { id, projectId, type, maskedUrl }: IntegrationRow,
  fields: { before?: Fields; after?: Fields },
): Change<Action> {
  const name = type === "slack" ? "Slack" : maskHost(URL.parse(maskedUrl)?.host ?? "");
  return { projectId, action, record: { type: "integration", id, name }, ...fields };
}

/** Two URLs may differ only in the parts that are not shown: `url_replaced` records that. */
export function presentUpdate(
  before: IntegrationRow,
  after: IntegrationRow,
  target: { maskedUrl: string } | undefined,
) {
  const looksEqual = target?.maskedUrl === before.maskedUrl;
  return {
    before: presentIntegration(before),
    after: { ...presentIntegration(after), ...(looksEqual && { url_replaced: true }) },
  };
}
