export { bytesOf, limitGrowth } from "./service.ts";
export type { Bound } from "./store.ts";
