/** Every table, for stores that join across features. */
export { apiKeys } from "../features/api-keys/table.ts";
export { bootstraps } from "../features/bootstrap/table.ts";
export { environments } from "../features/environments/table.ts";
export { accounts, memberships } from "../features/memberships/table.ts";
export { organizations } from "../features/organizations/table.ts";
export { projectMembers } from "../features/project-members/table.ts";
export { projectConnections, projects } from "../features/projects/table.ts";
