import { POLICIES, type PolicyName, WINDOW_MS } from "../rate-limits/policies.ts";

/** The rate limit policies of requests with an API key, as the API presents them. */
export const API_KEY_POLICIES = presentPolicies(["default", "polling", "reveal"]);
export const SESSION_POLICIES = presentPolicies(["console", "reveal"]);

function presentPolicies(names: readonly PolicyName[]) {
  return names.map((name) => {
    return { name, limit: POLICIES[name].limit, window_seconds: WINDOW_MS / 1000 };
  });
}
