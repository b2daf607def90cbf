import type { ChangedKey } from "../context.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import { callObject, isOverloaded } from "../lib/call-object.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { KeyDecision } from "./key-window.ts";
import type { LimitedRequest, LimiterNamespace } from "./limited-request.ts";
import {
  CALL_TIMEOUTS_MS,
  FALLBACK_MS,
  FALLBACK_SHARE,
  OVERLOADED_WAIT_MS,
  organizationLimit,
  POLICIES,
  type PolicyName,
} from "./policies.ts";
import type { Consumption } from "./rate-limiter.do.ts";
import { UnreportedCosts } from "./unreported-costs.ts";
import { type AdmissionLog, admit } from "./window.ts";

const INVALIDATION_BATCH = 50;
const MAX_CACHED_WINDOWS = 10_000;

export interface RateLimitResult {
  /** `organization` if the organization's window refused the request. */
  policy: PolicyName | "organization";
  admitted: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until one more request is available than now. */
  waitMs: number;
  /** The newest version of the key; undefined if its object could not be called. */
  version: number | undefined;
  /** For how long the budget of the organization is used up; 0 if it is not. */
  overBudgetMs: number;
}

/** What selects a window. */
type WindowName = Pick<LimitedRequest, "key" | "policy" | "sessionId">;

interface Refusal {
  by: KeyDecision["by"];
  until: number;
}

/**
 * The isolate's client of the rate limiter objects. It caches refusals, and admits a share of the
 * limit by itself if an object does not respond.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusals = new BoundedMap<string, Refusal>(MAX_CACHED_WINDOWS);
  readonly #fallbackUntil = new BoundedMap<string, number>(MAX_CACHED_WINDOWS);
  readonly #fallbackLogs = new BoundedMap<string, AdmissionLog>(MAX_CACHED_WINDOWS);
  readonly costs: UnreportedCosts;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.costs = new UnreportedCosts(log);
  }

  cachedRefusal(window: WindowName & { exemptFromBudget: boolean }): RateLimitResult | undefined {
    // Most isolates remember none: then no request pays for the name of its window.
    if (this.#refusals.size === 0) return undefined;
    const refusal = this.#refusals.get(nameOf(window));
    if (refusal?.by === "budget" && window.exemptFromBudget) return undefined;
    const waitMs = refusal ? refusal.until - this.#clock.now() : 0;
    return refusal && waitMs > 0
      ? toResult(window.policy, { ...REFUSED, by: refusal.by, waitMs })
      : undefined;
  }

  /**
   * Consumes one request. Never throws: if the object is overloaded, the request is refused; if it
   * fails twice, the isolate admits a quarter of the limit by itself for a second.
   * @param parallelWork The timeout starts when this ends, so most reads need no timer.
   */
  async consume(
    namespace: LimiterNamespace,
    request: LimitedRequest,
    parallelWork?: Promise<unknown>,
  ): Promise<RateLimitResult> {
    const { id, key, organizationId, consumerId, policy, version, sessionId, exemptFromBudget } =
      request;
    const refusal = this.cachedRefusal(request);
    if (refusal) return refusal;
    const sentAt = this.#clock.now();
    if (sentAt < (this.#fallbackUntil.get(key) ?? 0)) return this.#consumeFallback(request);
    const cost = this.costs.take(key);
    const options = { exemptFromBudget, cost };
    try {
      const consumption = await callObject(
        namespace,
        key,
        (object) =>
          object.consume(policy, version, organizationId, sessionId, consumerId, id, options),
        { timeoutsMs: CALL_TIMEOUTS_MS, parallelWork },
      );
      const { admitted, by, waitMs } = consumption;
      // The object decided after `sentAt`, so the cached refusal ends no later than the real one.
      const until = sentAt + waitMs;
      if (!admitted) this.#refusals.set(nameOf(request), { by, until });
      return toResult(policy, consumption, consumption);
    } catch (error) {
      this.costs.add(key, cost?.units ?? 0);
      if (isOverloaded(error)) return toResult(policy, { ...REFUSED, waitMs: OVERLOADED_WAIT_MS });
      this.#log("error", "rate_limiter.unavailable", { policy, ...describeError(error) });
      this.#fallbackUntil.set(key, this.#clock.now() + FALLBACK_MS);
      return this.#consumeFallback(request);
    }
  }

  /** False if the object of the key cannot be called. */
  async isKnown(namespace: LimiterNamespace, key: string): Promise<boolean> {
    const options = { timeoutsMs: CALL_TIMEOUTS_MS };
    try {
      return await callObject(namespace, key, async (object) => object.isKnown(), options);
    } catch (error) {
      this.#log("error", "rate_limiter.unavailable", describeError(error));
      return false;
    }
  }

  /** The newest version of a key; undefined if its object cannot be called. */
  async versionOf(namespace: LimiterNamespace, key: string): Promise<number | undefined> {
    const options = { timeoutsMs: CALL_TIMEOUTS_MS };
    try {
      return await callObject(namespace, key, async (object) => object.version(), options);
    } catch (error) {
      this.#log("error", "rate_limiter.unavailable", describeError(error));
      return undefined;
    }
  }

  /**
   * Sends the new versions of keys to their objects, so that no isolate uses an older cached version.
   * If that fails, the object receives the version with a later request, from an isolate that has
   * read the key since; isolates cache a key for at most 30 s.
   */
  async invalidateKeys(namespace: LimiterNamespace, keys: readonly ChangedKey[]): Promise<void> {
    for (let at = 0; at < keys.length; at += INVALIDATION_BATCH) {
      const batch = keys.slice(at, at + INVALIDATION_BATCH);
      await Promise.all(batch.map((key) => this.#invalidate(namespace, key)));
    }
  }

  async #invalidate(namespace: LimiterNamespace, { secretHash, version }: ChangedKey) {
    const options = { timeoutsMs: CALL_TIMEOUTS_MS };
    try {
      await callObject(namespace, secretHash, (object) => object.raiseVersion(version), options);
    } catch (error) {
      this.#log("error", "rate_limiter.not_invalidated", { version, ...describeError(error) });
    }
  }

  #consumeFallback(request: WindowName): RateLimitResult {
    const { policy } = request;
    const window = nameOf(request);
    const share = Math.ceil(POLICIES[policy].limit * FALLBACK_SHARE);
    const decision = admit(this.#fallbackLogs.get(window) ?? [], share, this.#clock.now());
    this.#fallbackLogs.set(window, decision.log);
    return toResult(policy, { ...decision, by: "key" });
  }
}

function nameOf({ key, policy, sessionId = "" }: WindowName): string {
  return `${key}:${policy}:${sessionId}`;
}

const REFUSED = { admitted: false, by: "key", remaining: 0 } as const;

function toResult(
  policy: PolicyName,
  { admitted, by, remaining, waitMs }: KeyDecision,
  { version, overBudgetMs = 0 }: Partial<Consumption> = {},
): RateLimitResult {
  const isOfKey = by === "key";
  return {
    policy: isOfKey ? policy : "organization",
    admitted,
    limit: isOfKey ? POLICIES[policy].limit : organizationLimit(policy),
    remaining,
    waitMs,
    version,
    overBudgetMs,
  };
}

/** The refusal of a request that was admitted, until the budget of the organization admits others. */
export function refusalByBudget(policy: PolicyName, waitMs: number): RateLimitResult {
  return toResult(policy, { ...REFUSED, by: "budget", waitMs });
}
