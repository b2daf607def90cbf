export { eraseLogs } from "./erase.ts";
export { refreshFollowers, refreshLogs } from "./refresh.ts";
