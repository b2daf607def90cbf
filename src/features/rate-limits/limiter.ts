import type { ChangedKey } from "../../context.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { POLICIES, type PolicyName } from "./policies.ts";
import type { RateLimiter } from "./rate-limiter.do.ts";
import { type AdmissionLog, admit } from "./window.ts";

const CALL_TIMEOUT_MS = 500;
const OVERLOADED_WAIT_MS = 1_000;
const ALONE_SHARE = 4;
const ALONE_MS = 1_000;
const ANNOUNCED_AT_ONCE = 50;
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
  readonly #aloneUntil = new BoundedMap<string, number>(REMEMBERED_WINDOWS);
  readonly #ownLogs = new BoundedMap<string, AdmissionLog>(REMEMBERED_WINDOWS);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The refusal that this isolate remembers, if it still holds: then nobody needs to be asked. */
  remembered(key: string, policy: PolicyName): Verdict | undefined {
    const waitMs = (this.#refusedUntil.get(`${key}:${policy}`) ?? 0) - this.#clock.now();
    return waitMs > 0 ? toVerdict(policy, { ...REFUSED, waitMs }) : undefined;
  }

  /**
   * Asks for the admission of one request, and tells the object the version of the key that the
   * caller knows. Never throws: an overloaded object refuses; one that fails, or takes over 500 ms,
   * is asked once more through a new stub, and then the isolate admits a quarter of the limit on
   * its own, without asking again for a second. Work that is done `beside` is no waiting: the time
   * counts from its end, which spares most reads a timer.
   */
  async take(
    namespace: LimiterNamespace,
    key: string,
    policy: PolicyName,
    version: number,
    beside?: Promise<unknown>,
  ): Promise<Verdict> {
    const refusal = this.remembered(key, policy);
    if (refusal) return refusal;
    const sentAt = this.#clock.now();
    if (sentAt < (this.#aloneUntil.get(key) ?? 0)) return this.#admitAlone(key, policy);
    try {
      const answer = await askTwice(
        namespace,
        key,
        (object) => object.take(policy, version),
        beside,
      );
      // The object refused after `sentAt`, so this ends no later than its refusal does.
      if (!answer.admitted) this.#refusedUntil.set(`${key}:${policy}`, sentAt + answer.waitMs);
      return toVerdict(policy, answer, answer.version);
    } catch (error) {
      if (isOverloaded(error)) return toVerdict(policy, { ...REFUSED, waitMs: OVERLOADED_WAIT_MS });
      this.#log("error", "rate_limiter.unavailable", { policy, ...describeError(error) });
      this.#aloneUntil.set(key, this.#clock.now() + ALONE_MS);
      return this.#admitAlone(key, policy);
    }
  }

  /**
   * Tells the objects of keys that these changed, so that no isolate goes on with what it remembers
   * of them. An object that cannot be told hears of it with the key's next request from an isolate
   * that has read the key since; the others remember it for 30 s at the most.
   */
  async announce(namespace: LimiterNamespace, keys: readonly ChangedKey[]): Promise<void> {
    for (let at = 0; at < keys.length; at += ANNOUNCED_AT_ONCE) {
      const some = keys.slice(at, at + ANNOUNCED_AT_ONCE);
      await Promise.all(some.map((key) => this.#announceOne(namespace, key)));
    }
  }

  async #announceOne(namespace: LimiterNamespace, key: ChangedKey): Promise<void> {
    const { secretHash, version } = key;
    try {
      await askTwice(namespace, secretHash, (object) => object.raiseVersion(version));
    } catch (error) {
      this.#log("error", "rate_limiter.unannounced", { version, ...describeError(error) });
    }
  }

  #admitAlone(key: string, policy: PolicyName): Verdict {
    const window = `${key}:${policy}`;
    const share = Math.ceil(POLICIES[policy].limit / ALONE_SHARE);
    const decision = admit(this.#ownLogs.get(window) ?? [], share, this.#clock.now());
    this.#ownLogs.set(window, decision.log);
    return toVerdict(policy, decision);
  }
}

const REFUSED = { admitted: false, remaining: 0 };

function toVerdict(
  policy: PolicyName,
  { admitted, remaining, waitMs }: Pick<Verdict, "admitted" | "remaining" | "waitMs">,
  version?: number,
): Verdict {
  return { policy, limit: POLICIES[policy].limit, admitted, remaining, waitMs, version };
}

type Stub = DurableObjectStub<RateLimiter>;

/** A stub that has thrown stays broken, so the second try takes a new one. */
async function askTwice<Answer>(
  namespace: LimiterNamespace,
  key: string,
  call: (object: Stub) => Promise<Answer>,
  beside?: Promise<unknown>,
): Promise<Answer> {
  try {
    const answer = call(namespace.getByName(key));
    return beside && (await isFirst(answer, beside)) ? await answer : await inTime(answer);
  } catch (error) {
    if (isOverloaded(error)) throw error;
    return inTime(call(namespace.getByName(key)));
  }
}

/** Whether the answer is there before the work is done, however either ends. */
function isFirst(answer: Promise<unknown>, work: Promise<unknown>): Promise<boolean> {
  const is = (which: boolean) => () => which;
  return Promise.race([answer.then(is(true), is(true)), work.then(is(false), is(false))]);
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
