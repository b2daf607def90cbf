import type { Settings } from "../../../context.ts";
import { NotConfigured } from "../../../lib/errors.ts";

/** Where Slack is, and the app of this deployment there, if it has one. */
export interface SlackSettings {
  origin: string;
  clientId: string;
  clientSecret: string;
}

export function slackSettingsOf(
  settings: Pick<Settings, "SLACK_ORIGIN" | "SLACK_CLIENT_ID" | "SLACK_CLIENT_SECRET">,
): SlackSettings {
  return {
    origin: settings.SLACK_ORIGIN,
    clientId: settings.SLACK_CLIENT_ID,
    clientSecret: settings.SLACK_CLIENT_SECRET ?? "",
  };
}

/** Throws unless the deployment has a Slack app. */
export function requireSlackApp({ clientId, clientSecret }: SlackSettings): void {
  const missing = [
    ...(clientId ? [] : ["SLACK_CLIENT_ID"]),
    ...(clientSecret ? [] : ["SLACK_CLIENT_SECRET"]),
  ];
  if (missing.length > 0) throw new NotConfigured("Slack", missing);
}
