/** Every table, for stores that join across features. */
export { alarms } from "../features/alarms/table.ts";
export { apiKeys } from "../features/api-keys/table.ts";
export { auditRecords } from "../features/audit/table.ts";
export { bootstraps } from "../features/bootstrap/table.ts";
export { components } from "../features/components/table.ts";
export { deliveries, deliveryAttempts } from "../features/deliveries/table.ts";
export { attempts, deploymentStacks, deployments } from "../features/deployments/table.ts";
export { environments } from "../features/environments/table.ts";
export { changelogEntries } from "../features/events/table.ts";
export { integrations } from "../features/integrations/table.ts";
export { accounts, memberships } from "../features/memberships/table.ts";
export { organizations } from "../features/organizations/table.ts";
export { projectMembers } from "../features/project-members/table.ts";
export { projectConnections, projects } from "../features/projects/table.ts";
export { resources } from "../features/resources/table.ts";
export {
  runnerPoolEnvironments,
  runnerPools,
  runnerTokens,
} from "../features/runner-pools/table.ts";
export { stacks } from "../features/stacks/table.ts";
export { limitChecks, usage } from "../features/usage/table.ts";
export { variables } from "../features/variables/table.ts";
