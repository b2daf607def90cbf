export { authorize } from "./access.ts";
export { requireProject } from "./service.ts";
export { findProject } from "./store.ts";
