import { LIMITS } from "../lib/limits.ts";

/** Limits apply to any 60 seconds, not to calendar minutes. */
export const WINDOW_MS = 60_000;

/** `limit` is in requests per window, for one key. */
export const POLICIES = {
  default: { limit: 100, appliesTo: "all other requests" },
  polling: { limit: 300, appliesTo: "reads of deployments, resources and logs" },
  reveal: { limit: 30, appliesTo: "reading values of variables" },
  runner: { limit: 1200, appliesTo: "requests with a runner token, for one token" },
  console: {
    limit: 600,
    appliesTo: "requests with a session, for one session, except reading values of variables",
  },
} as const satisfies Record<string, { limit: number; appliesTo: string }>;

/** For an answer of the object that holds the windows of a key. */
export const CALL_TIMEOUT_MS = 500;
/** Of a call and of its retry. */
export const CALL_TIMEOUTS_MS = [CALL_TIMEOUT_MS, CALL_TIMEOUT_MS] as const;
/** The share of a limit that is admitted while the object that would decide cannot be called. */
export const FALLBACK_SHARE = 1 / 4;
/** How long, before the object is called again. */
export const FALLBACK_MS = 1_000;
/** How long a caller waits that an overloaded object has refused. */
export const OVERLOADED_WAIT_MS = 1_000;

export type PolicyName = keyof typeof POLICIES;

/** In requests per window, for all keys of one organization. */
export function organizationLimit(policy: PolicyName): number {
  return LIMITS.organizationRequests.value * POLICIES[policy].limit;
}

/** Units of database work per window, of all requests of one organization: see `UNITS`. */
export const BUDGETS = {
  caller: LIMITS.databaseUnits.value,
  runner: LIMITS.runnerDatabaseUnits.value,
} as const;

export type BudgetName = keyof typeof BUDGETS;

export function budgetOf(policy: PolicyName): BudgetName {
  return policy === "runner" ? "runner" : "caller";
}
