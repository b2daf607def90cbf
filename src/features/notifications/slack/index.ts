export { type SlackMessage, toSlackMessage } from "./message.ts";
export { slackSettingsOf } from "./oauth.ts";
