export { type SlackMessage, toSlackMessage } from "./message.ts";
