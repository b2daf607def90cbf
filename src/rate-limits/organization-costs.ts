import { callObject, type ObjectNamespace } from "../lib/call-object.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { OrganizationLimiter } from "./organization-limiter.do.ts";
import { CALL_TIMEOUTS_MS } from "./policies.ts";

/** Beside the memberships, which share the budget. */
const SCHEDULE = "schedule";

interface Deps {
  limiters: ObjectNamespace<Pick<OrganizationLimiter, "charge">>;
  log: Log;
}

/** Charges a budget with what the schedule has done, in units of `UNITS`. Never throws. */
export async function chargeOrganization(
  { limiters, log }: Deps,
  payer: Promise<string>,
  units: number,
): Promise<void> {
  const cost = { id: crypto.randomUUID(), units, consumerId: SCHEDULE };
  try {
    const name = await payer;
    await callObject(limiters, name, async (object) => object.charge(cost), {
      timeoutsMs: CALL_TIMEOUTS_MS,
    });
  } catch (error) {
    log("error", "organization_limiter.unavailable", describeError(error));
  }
}
