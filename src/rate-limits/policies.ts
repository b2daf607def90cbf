import { LIMITS } from "../lib/limits.ts";

/** Every limit applies to any 60 seconds, not to the minutes of a clock. */
export const WINDOW_MS = 60_000;

/** How many requests each policy admits in a window, for one key. */
export const POLICIES = {
  default: { limit: 100, appliesTo: "everything not named below" },
  polling: { limit: 300, appliesTo: "reads of deployments and resources" },
  reveal: { limit: 30, appliesTo: "reading a variable's value" },
  runner: { limit: 1200, appliesTo: "whatever a runner token opens, for one token" },
} as const satisfies Record<string, { limit: number; appliesTo: string }>;

export type PolicyName = keyof typeof POLICIES;

/** How many requests of one organization a policy admits in a window, over all keys. */
export function organizationLimit(policy: PolicyName): number {
  return LIMITS.organizationRequests.value * POLICIES[policy].limit;
}
