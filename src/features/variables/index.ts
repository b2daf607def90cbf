export type { StorageMethod } from "./model.ts";
export { valueContext } from "./place.ts";
export { StorageMethod as StorageMethodSchema } from "./schemas.ts";
