export type { StorageMethod } from "./model.ts";
export { placeOf } from "./place.ts";
export { StorageMethod as StorageMethodSchema } from "./schemas.ts";
