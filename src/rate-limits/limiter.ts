import type { ChangedKey } from "../context.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import { callObject, isOverloaded } from "./call-object.ts";
import type { KeyDecision } from "./key-window.ts";
import { organizationLimit, POLICIES, type PolicyName } from "./policies.ts";
import type { RateLimiter } from "./rate-limiter.do.ts";
import { type AdmissionLog, admit } from "./window.ts";

const CALL_TIMEOUT_MS = 500;
const TIMEOUTS_MS = [CALL_TIMEOUT_MS, CALL_TIMEOUT_MS] as const;
const OVERLOADED_WAIT_MS = 1_000;
const ALONE_SHARE = 4;
const ALONE_MS = 1_000;
const INVALIDATED_AT_ONCE = 50;
const CACHED_WINDOWS = 10_000;

export interface RateLimitResult {
  /** `organization`: the window of the organization refuses, not that of the key. */
  policy: PolicyName | "organization";
  admitted: boolean;
  limit: number;
  /** How many more requests have room now. */
  remaining: number;
  /** Milliseconds until a further request finds room that is not there now. */
  waitMs: number;
  /** The version of the key; undefined when its object could not be asked. */
  version: number | undefined;
}

/** A request to be admitted. */
export interface LimitedRequest {
  /** The hash of the key's secret, which names its object. */
  key: string;
  organizationId: string;
  policy: PolicyName;
  /** The version of the key that the caller knows. */
  version: number;
}

/** The Durable Objects of the keys, each by the hash of its key's secret. */
export type LimiterNamespace = Pick<DurableObjectNamespace<RateLimiter>, "getByName">;

interface Refusal {
  by: KeyDecision["by"];
  until: number;
}

/**
 * An isolate's side of the rate limits: asks the key's object, caches a refusal for as long as it
 * lasts, and admits a share of the limit when the object does not answer.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusals = new BoundedMap<string, Refusal>(CACHED_WINDOWS);
  readonly #aloneUntil = new BoundedMap<string, number>(CACHED_WINDOWS);
  readonly #aloneLogs = new BoundedMap<string, AdmissionLog>(CACHED_WINDOWS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The refusal that this isolate has cached, if it still holds. */
  cachedRefusal(key: string, policy: PolicyName): RateLimitResult | undefined {
    const refusal = this.#refusals.get(`${key}:${policy}`);
    const waitMs = refusal ? refusal.until - this.#clock.now() : 0;
    return refusal && waitMs > 0
      ? toResult(policy, { ...REFUSED, by: refusal.by, waitMs })
      : undefined;
  }

  /**
   * Asks for the admission of one request. Never throws: an overloaded object refuses; one that
   * fails, or takes over 500 ms, is asked once more through a new stub, and then the isolate admits
   * a quarter of the limit on its own, without asking again for a second. The timeout starts when
   * `parallelWork` ends, which spares most reads a timer.
   */
  async consume(
    namespace: LimiterNamespace,
    { key, organizationId, policy, version }: LimitedRequest,
    parallelWork?: Promise<unknown>,
  ): Promise<RateLimitResult> {
    const refusal = this.cachedRefusal(key, policy);
    if (refusal) return refusal;
    const sentAt = this.#clock.now();
    if (sentAt < (this.#aloneUntil.get(key) ?? 0)) return this.#admitAlone(key, policy);
    try {
      const answer = await callObject(
        namespace,
        key,
        (object) => object.consume(policy, version, organizationId),
        { timeoutsMs: TIMEOUTS_MS, parallelWork },
      );
      // The object refused after `sentAt`, so this ends no later than its refusal does.
      const until = sentAt + answer.waitMs;
      if (!answer.admitted) this.#refusals.set(`${key}:${policy}`, { by: answer.by, until });
      return toResult(policy, answer, answer.version);
    } catch (error) {
      if (isOverloaded(error)) return toResult(policy, { ...REFUSED, waitMs: OVERLOADED_WAIT_MS });
      this.#log("error", "rate_limiter.unavailable", { policy, ...describeError(error) });
      this.#aloneUntil.set(key, this.#clock.now() + ALONE_MS);
      return this.#admitAlone(key, policy);
    }
  }

  /** Whether the key was used before, as its object knows; false if that cannot be asked. */
  async isKnown(namespace: LimiterNamespace, key: string): Promise<boolean> {
    const limits = { timeoutsMs: TIMEOUTS_MS };
    try {
      return await callObject(namespace, key, async (object) => object.isKnown(), limits);
    } catch (error) {
      this.#log("error", "rate_limiter.unavailable", describeError(error));
      return false;
    }
  }

  /**
   * Tells the objects of keys that these changed, so that no isolate acts on what it has cached of
   * them. An object that cannot be told learns it with the key's next request from an isolate that
   * has read the key since; the others cache a key for 30 s at most.
   */
  async invalidateKeys(namespace: LimiterNamespace, keys: readonly ChangedKey[]): Promise<void> {
    for (let at = 0; at < keys.length; at += INVALIDATED_AT_ONCE) {
      const some = keys.slice(at, at + INVALIDATED_AT_ONCE);
      await Promise.all(some.map((key) => this.#invalidate(namespace, key)));
    }
  }

  async #invalidate(namespace: LimiterNamespace, { secretHash, version }: ChangedKey) {
    const limits = { timeoutsMs: TIMEOUTS_MS };
    try {
      await callObject(namespace, secretHash, (object) => object.raiseVersion(version), limits);
    } catch (error) {
      this.#log("error", "rate_limiter.not_invalidated", { version, ...describeError(error) });
    }
  }

  #admitAlone(key: string, policy: PolicyName): RateLimitResult {
    const window = `${key}:${policy}`;
    const share = Math.ceil(POLICIES[policy].limit / ALONE_SHARE);
    const decision = admit(this.#aloneLogs.get(window) ?? [], share, this.#clock.now());
    this.#aloneLogs.set(window, decision.log);
    return toResult(policy, { ...decision, by: "key" });
  }
}

const REFUSED = { admitted: false, by: "key", remaining: 0 } as const;

function toResult(
  policy: PolicyName,
  { admitted, by, remaining, waitMs }: KeyDecision,
  version?: number,
): RateLimitResult {
  const decision = { admitted, remaining, waitMs, version };
  if (by === "key") return { policy, limit: POLICIES[policy].limit, ...decision };
  return { policy: "organization", limit: organizationLimit(policy), ...decision };
}
