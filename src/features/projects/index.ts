export { authorize, type WithMemberRole } from "./access.ts";
export { requireProject } from "./service.ts";
export { findProject, isRoleOf, MEMBER_ROLE } from "./store.ts";
