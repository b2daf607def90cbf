export { bytesOf, limitGrowth, requireStorage } from "./service.ts";
export { type Bound, sumStoredBytes } from "./store.ts";
