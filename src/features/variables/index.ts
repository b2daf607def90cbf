export type { StorageMethod } from "./model.ts";
export { DELIVERED_VARIABLE } from "./schemas.ts";
export { openValues } from "./values.ts";
