export type { StorageMethod } from "./model.ts";
export { valueContext } from "./model.ts";
export { StorageMethod as StorageMethodSchema } from "./schemas.ts";
