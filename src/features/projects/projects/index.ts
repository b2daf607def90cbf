export { presentProject } from "./presenters.ts";

export { requireProject } from "./service.ts";
export { findProject, type ProjectRow } from "./store.ts";
