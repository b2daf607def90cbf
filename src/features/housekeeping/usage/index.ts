export { bytesOf, limitGrowth, requireStorage } from "./service.ts";
export { type Bound, type Growth, sumStoredBytes } from "./store.ts";
