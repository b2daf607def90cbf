import { toTimestamp } from "../../../lib/clock.ts";
import { toConfiguration } from "./configuration.ts";
import type { IntegrationRow } from "./store.ts";

export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    project_id: row.projectId,
    type: row.type,
    configuration: toConfiguration(JSON.parse(row.configuration)),
    url: row.type === "webhook" ? row.shownUrl : undefined,
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

/**
 * A change of an integration, for the changelog. What differs in the hidden parts of its URL does not
 * show: so the entry says that a URL was written over one that looks the same.
 */
export function presentChange(
  before: IntegrationRow,
  after: IntegrationRow,
  target: { shownUrl: string } | undefined,
) {
  const isHidden = target?.shownUrl === before.shownUrl && target.shownUrl.includes("…");
  return {
    before: presentIntegration(before),
    after: { ...presentIntegration(after), ...(isHidden && { url_replaced: true }) },
  };
}
