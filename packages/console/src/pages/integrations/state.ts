import type { Schemas } from "../../api.ts";

type Integration = Schemas["Integration"];

/** The most important of its states. */
export function stateOf(integration: Integration): string {
  const { disabled_at, confirmed, paused_until, failing_since } = integration;
  if (disabled_at) return "disabled";
  if (!confirmed) return "unconfirmed";
  if (paused_until && Date.parse(paused_until) > Date.now()) return "paused";
  return failing_since ? "failing" : "active";
}

export function targetOf({ type, url, slack }: Integration): string {
  if (type === "webhook") return url ?? "Webhook";
  const channel = slack?.channel_name ?? slack?.channel_id;
  return `Slack ${[slack?.workspace_name, channel].filter(Boolean).join(" / ")}`;
}
