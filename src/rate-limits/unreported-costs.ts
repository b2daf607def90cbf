import { BoundedMap } from "../lib/bounded-map.ts";
import { callObject } from "../lib/call-object.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { LimitedRequest, LimiterNamespace } from "./limited-request.ts";
import { CALL_TIMEOUTS_MS } from "./policies.ts";
import type { Cost } from "./rate-limiter.do.ts";

const MAX_KEYS = 10_000;
/** From here on, a cost does not wait for the next call of the key's object. */
export const ISOLATE_REPORTED_UNITS = 1_000;
let reportAfterMs = 1_000;

/** For tests, which wait for what a request does after its response. */
export function reportCostsAfter(milliseconds: number): void {
  reportAfterMs = milliseconds;
}

/** Whose budget pays. */
type Payer = Pick<LimitedRequest, "key" | "policy" | "organizationId" | "consumerId">;

type WaitUntil = (promise: Promise<unknown>) => void;

/** What requests in this isolate have cost since the last call of their key's object, in units of `UNITS`. */
export class UnreportedCosts {
  readonly #log: Log;
  readonly #units = new BoundedMap<string, number>(MAX_KEYS);

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Charges what a statement of a request has cost to the budget of its organization: with the next call
   * of the key's object, or after a second if that is much.
   */
  charge(namespace: LimiterNamespace, payer: Payer, units: number, waitUntil: WaitUntil): void {
    const { key } = payer;
    const before = this.#units.get(key) ?? 0;
    this.add(key, units);
    if (before < ISOLATE_REPORTED_UNITS && before + units >= ISOLATE_REPORTED_UNITS) {
      waitUntil(scheduler.wait(reportAfterMs).then(() => this.#report(namespace, payer)));
    }
  }

  async #report(namespace: LimiterNamespace, payer: Payer): Promise<void> {
    const { key, policy, organizationId, consumerId } = payer;
    const cost = this.take(key);
    if (!cost) return;
    try {
      await callObject(
        namespace,
        key,
        async (object) => object.report(cost, policy, organizationId, consumerId),
        { timeoutsMs: CALL_TIMEOUTS_MS },
      );
    } catch (error) {
      this.add(key, cost.units);
      this.#log("error", "rate_limiter.unavailable", { policy, ...describeError(error) });
    }
  }

  add(key: string, units: number): void {
    if (units > 0) this.#units.set(key, (this.#units.get(key) ?? 0) + units);
  }

  /** For a call of the key's object: its costs are reported then. */
  take(key: string): Cost | undefined {
    const units = this.#units.get(key);
    if (units === undefined) return undefined;
    this.#units.delete(key);
    return { id: crypto.randomUUID(), units };
  }
}
