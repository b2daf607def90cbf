export { ResourceStatus } from "./schemas.ts";
export type { ResourceStatus as ResourceStatusName } from "./statuses.ts";
