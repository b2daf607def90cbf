export { requireStack } from "./service.ts";
export { findStack, type StackRow } from "./store.ts";
