export { authorize, type WithMemberRole } from "./access.ts";
export { PROVIDERS } from "./connection.ts";
export { presentProject } from "./presenters.ts";
export { Project } from "./schemas.ts";
export { requireProject } from "./service.ts";
export { findProject, isRoleOf, MEMBER_ROLE, type ProjectRow } from "./store.ts";
