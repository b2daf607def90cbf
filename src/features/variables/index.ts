export type { StorageMethod } from "./model.ts";
export { valueContext } from "./model.ts";
export { DELIVERED_VARIABLE } from "./schemas.ts";
