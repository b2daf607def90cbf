export { hasUnpurged, markForPurge } from "./mark.ts";
