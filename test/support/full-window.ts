import { env } from "cloudflare:workers";
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
  const request = { id: crypto.randomUUID(), waiting: requests, prefetch: 0, reports: [] };
  const object = env.ORGANIZATION_LIMITER.getByName(organizationId);
  return (await object.lease(policy, { ...request, consumerId })).admitted;
}

/** Charges work of the consumer to the organization's budget. */
export async function spend(
  organizationId: string,
  budget: BudgetName,
  consumerId: string,
  units: number = BUDGETS[budget],
): Promise<void> {
  const report = { id: crypto.randomUUID(), waiting: 0, prefetch: 0, reports: [] };
  const policy = budget === "runner" ? "runner" : "default";
  const object = env.ORGANIZATION_LIMITER.getByName(organizationId);
  await object.lease(policy, { ...report, consumerId, units });
}
