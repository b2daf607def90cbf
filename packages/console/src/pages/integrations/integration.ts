import type { Schemas } from "../../api.ts";
import { ROOT } from "../../router.ts";

type Integration = Schemas["Integration"];

export const INTEGRATION =
  "/v1/projects/{project_id}/notification-integrations/{integration_id}" as const;

export type IntegrationPath = { project_id: string; integration_id: string };

/** The page of an integration. */
export function linkIntegration({ project_id, integration_id }: IntegrationPath): string {
  return `${ROOT}projects/${project_id}/integrations/${integration_id}`;
}

/** The most important of its states. */
export function stateOf(integration: Integration): string {
  const { disabled_at, confirmed, paused_until, failing_since } = integration;
  if (disabled_at) return "disabled";
  if (!confirmed) return "unconfirmed";
  if (paused_until && Date.parse(paused_until) > Date.now()) return "paused";
  return failing_since ? "failing" : "active";
}

export function isSending(state: string): boolean {
  return state !== "disabled" && state !== "unconfirmed";
}

export function targetOf({ type, url, slack }: Integration): string {
  if (type === "webhook") return url ?? "Webhook";
  const channel = slack?.channel_name ?? slack?.channel_id;
  return `Slack ${[slack?.workspace_name, channel].filter(Boolean).join(" / ")}`;
}
