export type { StorageMethod } from "./model.ts";

export { openValues } from "./values.ts";
