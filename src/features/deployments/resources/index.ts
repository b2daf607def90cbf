export type { ResourceStatus as ResourceStatusName } from "./model.ts";
export { markChanged } from "./store.ts";
