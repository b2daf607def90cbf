export { StackParams } from "./schemas.ts";
export { requireStack } from "./service.ts";
export { findStack, type StackRow } from "./store.ts";
