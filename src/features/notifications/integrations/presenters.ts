import { toTimestamp } from "../../../lib/clock.ts";
import type { Change, Fields } from "../../changelog/index.ts";
import { KINDS } from "../events.ts";
import type { Configuration, PartialConfiguration } from "./model.ts";
import type { IntegrationRow } from "./store.ts";

export function toConfiguration(flags: PartialConfiguration): Configuration {
  const entries = KINDS.map((kind) => [kind, flags[kind] ?? false] as const);
  return Object.fromEntries(entries) as Configuration;
}

export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    type: row.type,
    configuration: toConfiguration(JSON.parse(row.configuration)),
    url: row.type === "webhook" ? row.maskedUrl : undefined,
    disabled_at: row.disabledAt === null ? undefined : toTimestamp(row.disabledAt),
    disabled_reason: row.disabledReason ?? undefined,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  };
}

export function presentCreatedIntegration({
  row,
  secret,
}: {
  row: IntegrationRow;
  secret: string;
}) {
  return { ...presentIntegration(row), secret };
}

export function presentRotatedIntegration(rotated: {
  row: IntegrationRow;
  secret: string;
  previousSecretUntil: number;
}) {
  return {
    ...presentCreatedIntegration(rotated),
    previous_secret_until: toTimestamp(rotated.previousSecretUntil),
  };
}

/** The changelog names a webhook by its host: the rest of its URL may be a secret. */
export function toChange<Action extends Change["action"]>(
  action: Action,
  { id, projectId, maskedUrl }: IntegrationRow,
  fields: { before?: Fields; after?: Fields },
): Change<Action> {
  const name = URL.parse(maskedUrl)?.host;
  return { projectId, action, record: { type: "integration", id, name }, ...fields };
}

/** Two URLs may differ only where they are masked: `url_replaced` records that. */
export function presentUpdate(
  before: IntegrationRow,
  after: IntegrationRow,
  target: { maskedUrl: string } | undefined,
) {
  const looksEqual = target?.maskedUrl === before.maskedUrl && target.maskedUrl.includes("…");
  return {
    before: presentIntegration(before),
    after: { ...presentIntegration(after), ...(looksEqual && { url_replaced: true }) },
  };
}
