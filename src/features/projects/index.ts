export { authorize, type WithMemberRole } from "./access.ts";
export { requireProject } from "./service.ts";
export { findProject, memberRole } from "./store.ts";
