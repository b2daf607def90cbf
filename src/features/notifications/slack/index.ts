export { type SlackMessage, toSlackMessage } from "./message.ts";
export { type SlackSettings, slackSettingsOf } from "./settings.ts";
