export { eraseLogs } from "./erase.ts";
export { refreshLogs } from "./refresh.ts";
