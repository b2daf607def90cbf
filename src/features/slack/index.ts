export { toSlackMessage } from "./message.ts";
