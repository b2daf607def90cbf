export { markForPurge } from "./mark.ts";
