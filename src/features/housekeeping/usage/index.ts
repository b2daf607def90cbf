export type { Bound, Growth } from "./growth.ts";
export { bytesOf, limitGrowth, requireStorage } from "./service.ts";
export { listStorage } from "./store.ts";
