import { LIMITS } from "../../lib/limits.ts";

export type UsageByKind = ReadonlyMap<UsageKind, { records: number; bytes: number }>;

/** The maximum number of records of an organization, by `usage.kind`. */
export const RECORD_QUOTAS = {
  projects: LIMITS.projects.value,
  environments: LIMITS.environments.value,
  components: LIMITS.components.value,
  stacks: LIMITS.stacks.value,
  variables: LIMITS.variables.value,
  alarms: LIMITS.alarms.value,
  members: LIMITS.members.value,
  project_members: LIMITS.projectMembers.value,
  api_keys: LIMITS.apiKeys.value,
  runner_pools: LIMITS.runnerPools.value,
  runner_tokens: LIMITS.runnerTokens.value,
  integrations: LIMITS.integrations.value,
} as const;

export type LimitedKind = keyof typeof RECORD_QUOTAS;

/** Deployments count toward the bytes only: their number is limited per environment. */
export const USAGE_KINDS = [
  "deployments",
  ...(Object.keys(RECORD_QUOTAS) as LimitedKind[]),
] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];
