import { env } from "cloudflare:workers";
import type { TokenRequest, TokenResponse } from "../../src/rate-limits/organization-window.ts";
import {
  BUDGETS,
  type BudgetName,
  organizationLimit,
  type PolicyName,
} from "../../src/rate-limits/policies.ts";

const FIFTHS = 5;

/** Uses an organization's window for five consumers, each of which gets no more than a fifth. */
export async function fillWindow(
  organizationId: string,
  policy: PolicyName,
  requests: number = organizationLimit(policy),
): Promise<void> {
  const fifth = organizationLimit(policy) / FIFTHS;
  for (let rest = requests; rest > 0; rest -= fifth) {
    await useWindow(organizationId, policy, crypto.randomUUID(), Math.min(rest, fifth));
  }
}

/** How many requests of the consumer were admitted. */
export async function useWindow(
  organizationId: string,
  policy: PolicyName,
  consumerId: string,
  requests: number,
): Promise<number> {
  return (await lease(organizationId, policy, { consumerId, waiting: requests })).admitted;
}

/** Charges work of the consumer to the organization's budget. */
export async function spend(
  organizationId: string,
  budget: BudgetName,
  consumerId: string,
  units: number = BUDGETS[budget],
): Promise<void> {
  const policy = budget === "runner" ? "runner" : "default";
  await lease(organizationId, policy, { consumerId, units });
}

/** As the object of a key does. */
export async function lease(
  organizationId: string,
  policy: PolicyName,
  request: Partial<TokenRequest> & Pick<TokenRequest, "consumerId">,
): Promise<TokenResponse> {
  const id = crypto.randomUUID();
  const nothing = { id, waiting: 0, exempt: 0, prefetch: 0, reports: [], units: 0 };
  const object = env.ORGANIZATION_LIMITER.getByName(organizationId);
  return object.lease(policy, { ...nothing, ...request });
}
