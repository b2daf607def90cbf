export type { ResourceStatus as ResourceStatusName } from "./model.ts";
export { ResourceStatus } from "./schemas.ts";
export { markChanged } from "./store.ts";
