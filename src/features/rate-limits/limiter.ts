import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { POLICIES, type PolicyName } from "./policies.ts";
import type { RateLimiter, Take } from "./rate-limiter.do.ts";
import { type AdmissionLog, admit } from "./window.ts";

const CALL_TIMEOUT_MS = 500;
const OVERLOADED_WAIT_MS = 1_000;
const FALLBACK_SHARE = 4;
const REMEMBERED_WINDOWS = 10_000;

export interface Verdict {
  policy: PolicyName;
  admitted: boolean;
  limit: number;
  /** How many more requests have room now. */
  remaining: number;
  /** Milliseconds until a further request finds room that is not there now. */
  waitMs: number;
  /** The version of the key; undefined when its object could not be asked. */
  version: number | undefined;
}

/** The Durable Objects of the keys, each by the hash of its key's secret. */
export type LimiterNamespace = Pick<DurableObjectNamespace<RateLimiter>, "getByName">;

/**
 * An isolate's side of the rate limits: asks the key's object, remembers a refusal for as long as
 * it lasts, and has an answer when the object has none.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #refusedUntil = new BoundedMap<string, number>(REMEMBERED_WINDOWS);
  readonly #fallbackLogs = new BoundedMap<string, AdmissionLog>(REMEMBERED_WINDOWS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The refusal that this isolate remembers, if it still holds: then nobody needs to be asked. */
  remembered(key: string, policy: PolicyName): Verdict | undefined {
    const window = `${key}:${policy}`;
    const until = this.#refusedUntil.get(window);
    if (until === undefined) return undefined;
    const waitMs = until - this.#clock.now();
    if (waitMs > 0) return refusal(policy, waitMs);
    this.#refusedUntil.delete(window);
    return undefined;
  }

  /**
   * Asks for the admission of one request. Never throws: an overloaded object refuses; one that
   * fails, or takes over 500 ms, is asked once more through a new stub, and then the isolate
   * admits a quarter of the limit on its own.
   */
  async take(namespace: LimiterNamespace, key: string, policy: PolicyName): Promise<Verdict> {
    const known = this.remembered(key, policy);
    if (known) return known;
    const sentAt = this.#clock.now();
    try {
      const answer = await askTwice(namespace, key, (object) => object.take(policy));
      // The object refused after `sentAt`, so this ends no later than its refusal does.
      if (!answer.admitted) this.#refusedUntil.set(`${key}:${policy}`, sentAt + answer.waitMs);
      return { policy, limit: POLICIES[policy].limit, ...pick(answer) };
    } catch (error) {
      if (isOverloaded(error)) return refusal(policy, OVERLOADED_WAIT_MS);
      this.#log("error", "rate_limiter.unavailable", { policy, ...describeError(error) });
      return this.#admitAlone(key, policy);
    }
  }

  /**
   * Tells the key's object that the key changed, so that no isolate goes on with what it remembers.
   * Should the object not hear of it, that lasts until the isolates' memory ends.
   */
  async announce(namespace: LimiterNamespace, key: string, version: number): Promise<void> {
    try {
      await askTwice(namespace, key, (object) => object.raiseVersion(version));
    } catch (error) {
      this.#log("error", "rate_limiter.unannounced", { version, ...describeError(error) });
    }
  }

  #admitAlone(key: string, policy: PolicyName): Verdict {
    const window = `${key}:${policy}`;
    const share = Math.ceil(POLICIES[policy].limit / FALLBACK_SHARE);
    const decision = admit(this.#fallbackLogs.get(window) ?? [], share, this.#clock.now());
    this.#fallbackLogs.set(window, decision.log);
    const { admitted, remaining, waitMs } = decision;
    return {
      policy,
      limit: POLICIES[policy].limit,
      admitted,
      remaining,
      waitMs,
      version: undefined,
    };
  }
}

type Stub = DurableObjectStub<RateLimiter>;

/** A stub that has thrown stays broken, so the second try takes a new one. */
async function askTwice<Answer>(
  namespace: LimiterNamespace,
  key: string,
  call: (object: Stub) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await inTime(call(namespace.getByName(key)));
  } catch (error) {
    if (isOverloaded(error)) throw error;
    return inTime(call(namespace.getByName(key)));
  }
}

async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("No answer within 500 ms")), CALL_TIMEOUT_MS);
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** The runtime marks its own errors: see "Error handling" in the Durable Objects documentation. */
function isOverloaded(error: unknown): boolean {
  return error instanceof Error && "overloaded" in error && error.overloaded === true;
}

function refusal(policy: PolicyName, waitMs: number): Verdict {
  return {
    policy,
    limit: POLICIES[policy].limit,
    admitted: false,
    remaining: 0,
    waitMs,
    version: undefined,
  };
}

function pick({ admitted, remaining, waitMs, version }: Take) {
  return { admitted, remaining, waitMs, version };
}
