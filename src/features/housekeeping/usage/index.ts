export type { Bound, Growth } from "./growth.ts";
export { limitGrowth, requireStorage } from "./service.ts";
export { listStorage } from "./store.ts";
