export type UsageByKind = ReadonlyMap<UsageKind, { records: number; bytes: number }>;

/** The types of resources that `usage` counts, as triggers on their tables write them. */
export const USAGE_KINDS = [
  "deployments",
  "projects",
  "environments",
  "components",
  "stacks",
  "variables",
  "alarms",
  "members",
  "project_members",
  "api_keys",
  "runner_pools",
  "runner_tokens",
  "integrations",
] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

/** Deployments count toward the bytes only: their number is limited per environment. */
export type LimitedKind = Exclude<UsageKind, "deployments">;
