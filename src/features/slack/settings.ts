import { NotConfigured } from "../../lib/errors.ts";

/** Where Slack is, and the app of this deployment there, if it has one. */
export interface SlackSettings {
  origin: string;
  clientId: string;
  clientSecret: string;
}

/** `SLACK_CLIENT_SECRET` is not among the secrets that the Worker requires, so `Env` lacks it. */
export function slackSettingsOf(env: {
  SLACK_ORIGIN: string;
  SLACK_CLIENT_ID: string;
  SLACK_CLIENT_SECRET?: string;
}): SlackSettings {
  return {
    origin: env.SLACK_ORIGIN,
    clientId: env.SLACK_CLIENT_ID,
    clientSecret: env.SLACK_CLIENT_SECRET ?? "",
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
