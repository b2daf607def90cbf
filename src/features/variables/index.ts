export { placeOf } from "./place.ts";
export { StorageMethod as StorageMethodSchema } from "./schemas.ts";
export type { StorageMethod } from "./storage-methods.ts";
