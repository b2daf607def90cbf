import { DurableObject } from "cloudflare:workers";
import { BoundedMap } from "../lib/bounded-map.ts";
import { callObject, isOverloaded } from "../lib/call-object.ts";
import { LIMITS } from "../lib/limits.ts";
import { consoleLog, describeError } from "../lib/log.ts";
import { type KeyDecision, KeyWindow, type PendingRequest } from "./key-window.ts";
import { POLICIES, type PolicyName } from "./policies.ts";
import { throttledSave } from "./throttled-save.ts";
import type { AdmissionLog } from "./window.ts";

/** Below the 500 ms that an isolate waits for this object. */
const ORGANIZATION_TIME_MS = 400;
const ORGANIZATION_TIMEOUT_MS = 250;
const MIN_TIMEOUT_MS = 50;
const MAX_REMEMBERED_COSTS = 1_000;
/** From here on, a cost is reported at once, and not with the next tokens that the key needs. */
const OBJECT_REPORTED_UNITS = 10_000;

interface State {
  version: number;
  logs: Partial<Record<PolicyName, AdmissionLog>>;
  /** By the ID of the session. */
  sessionLogs: Record<string, AdmissionLog>;
}

/** For what a stored state lacks. */
const EMPTY: State = { version: 0, logs: {}, sessionLogs: {} };

/** Which window of the organization a key's window prefetches tokens of, and for which consumer. */
interface TokenConsumer {
  policy: PolicyName;
  organizationId: string;
  consumerId: string;
}

/** What requests of a key have cost, in units of `UNITS`. Reported again, it has the same ID. */
export interface Cost {
  id: string;
  units: number;
}

interface ConsumeOptions {
  /** Whether the budget of the organization does not refuse the request. */
  exemptFromBudget: boolean;
  /** What earlier requests have cost, unless it is reported already. */
  cost: Cost | undefined;
}

export interface Consumption extends KeyDecision {
  /** The newest version of the key that this object has received; 0 if the key never changed. */
  version: number;
  /** For how long the budget of the organization is used up; 0 if it is not. */
  overBudgetMs: number;
}

/**
 * The windows of one key and of its sessions, and the version of the key. The state is in memory, is
 * saved at most every 200 ms, and is loaded at start-up: an idle object may lose its memory after about 10 s.
 */
export class RateLimiter extends DurableObject<Env> {
  readonly #scheduleSave: () => void;
  #windows = createWindows();
  /** By the ID of the session. */
  readonly #sessionWindows = new Map<string, KeyWindow>();
  #version = 0;
  readonly #costs = new BoundedMap<string, true>(MAX_REMEMBERED_COSTS);
  #unreportedUnits = 0;
  /** Whether the object has stored state, or a save is scheduled. */
  #isKnown = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#scheduleSave = throttledSave(ctx, () => ({ state: this.#state }));
    ctx.blockConcurrencyWhile(async () => {
      const stored = await ctx.storage.get<Partial<State>>("state");
      const { version, logs, sessionLogs } = { ...EMPTY, ...stored };
      this.#version = version;
      this.#isKnown = stored !== undefined;
      this.#windows = createWindows(logs);
      for (const [id, log] of Object.entries(sessionLogs)) {
        this.#sessionWindows.set(id, new KeyWindow(POLICIES.console.limit, log));
      }
    });
  }

  /**
   * @param sessionId Of a request that counts in the session's own window.
   * @param consumerId See `Principal`.
   * @param id See `LimitedRequest`.
   */
  consume(
    policy: PolicyName,
    version: number,
    organizationId: string,
    sessionId: string | undefined,
    consumerId: string,
    id: string,
    { exemptFromBudget, cost }: ConsumeOptions,
  ): Consumption | Promise<Consumption> {
    if (cost) this.#add(cost);
    const window =
      sessionId === undefined ? this.#windows[policy] : this.#sessionWindowOf(sessionId);
    const { promise, resolve } = Promise.withResolvers<KeyDecision>();
    const decision = window.consume(Date.now(), id, resolve, exemptFromBudget);
    this.#requestTokens(window, { policy, organizationId, consumerId });
    const toConsumption = (made: KeyDecision) => this.#toConsumption(made, window, version);
    return decision ? toConsumption(decision) : promise.then(toConsumption);
  }

  /** For an isolate that has sent no request since, with which it would have reported the cost. */
  report(cost: Cost, policy: PolicyName, organizationId: string, consumerId: string): void {
    this.#add(cost);
    this.#requestTokens(this.#windows[policy], { policy, organizationId, consumerId }, 1);
  }

  #add({ id, units }: Cost): void {
    if (this.#costs.get(id)) return;
    this.#costs.set(id, true);
    this.#unreportedUnits += units;
  }

  /** Stores nothing, so made-up keys cost no storage. */
  isKnown(): boolean {
    return this.#isKnown;
  }

  /** The newest version of the key that this object has received; 0 if the key never changed. */
  version(): number {
    return this.#version;
  }

  /** Isolates that cached an older version must then read the key again. */
  async raiseVersion(version: number): Promise<void> {
    this.#version = Math.max(this.#version, version);
    this.#isKnown = true;
    await this.ctx.storage.put("state", this.#state);
  }

  /** Further sessions share one window, which bounds the state, and what one key uses. */
  #sessionWindowOf(sessionId: string): KeyWindow {
    const own = this.#sessionWindows.get(sessionId);
    if (own) return own;
    if (this.#sessionWindows.size >= LIMITS.sessionWindowsOfKey.value) return this.#windows.console;
    const window = new KeyWindow(POLICIES.console.limit);
    this.#sessionWindows.set(sessionId, window);
    return window;
  }

  /** Forgets the windows of sessions that are not used. */
  get #state(): State {
    const now = Date.now();
    for (const [id, window] of this.#sessionWindows) {
      if (window.isIdle(now)) this.#sessionWindows.delete(id);
    }
    const logsOf = (windows: Iterable<readonly [string, KeyWindow]>) =>
      Object.fromEntries([...windows].map(([name, { log }]) => [name, log]));
    return {
      version: this.#version,
      logs: logsOf(Object.entries(this.#windows)),
      sessionLogs: logsOf(this.#sessionWindows),
    };
  }

  #toConsumption(decision: KeyDecision, window: KeyWindow, knownVersion: number): Consumption {
    if (decision.admitted || knownVersion > this.#version) {
      this.#isKnown = true;
      this.#scheduleSave();
    }
    this.#version = Math.max(this.#version, knownVersion);
    const overBudgetMs = window.overBudgetMs(Date.now());
    return { ...decision, version: this.#version, overBudgetMs };
  }

  #requestTokens(
    window: KeyWindow,
    source: TokenConsumer,
    reportedUnits = OBJECT_REPORTED_UNITS,
  ): void {
    const hasCosts = this.#unreportedUnits >= reportedUnits;
    const pending = window.nextRequest(Date.now(), () => crypto.randomUUID(), hasCosts);
    if (!pending) return;
    const send = () => this.#send(window, source, pending);
    // Lets the response to a request that does not wait leave before more tokens are prefetched.
    const answered = pending.waiting > 0 ? send() : scheduler.wait(0).then(send);
    this.ctx.waitUntil(answered.then(() => this.#requestTokens(window, source)));
  }

  /** Never throws. */
  async #send(
    window: KeyWindow,
    { policy, organizationId, consumerId }: TokenConsumer,
    { sentAt, waitingSince = sentAt, ...request }: PendingRequest,
  ): Promise<void> {
    const timeMs = ORGANIZATION_TIME_MS - (sentAt - waitingSince);
    const first = Math.max(MIN_TIMEOUT_MS, Math.min(ORGANIZATION_TIMEOUT_MS, timeMs));
    const timeoutsMs = [first, Math.max(MIN_TIMEOUT_MS, timeMs - first)] as const;
    const units = this.#unreportedUnits;
    this.#unreportedUnits = 0;
    try {
      const response = await callObject(
        this.env.ORGANIZATION_LIMITER,
        organizationId,
        (object) => object.lease(policy, { ...request, consumerId, units }),
        { timeoutsMs },
      );
      window.accept(response, Date.now());
    } catch (error) {
      this.#unreportedUnits += units;
      if (isOverloaded(error)) return window.shedLoad(Date.now());
      const description = { organization_id: organizationId, policy, ...describeError(error) };
      consoleLog("error", "organization_limiter.unavailable", description);
      window.startFallback(Date.now());
    }
  }
}

function createWindows(logs: State["logs"] = {}) {
  const create = (policy: PolicyName) => new KeyWindow(POLICIES[policy].limit, logs[policy]);
  return {
    default: create("default"),
    polling: create("polling"),
    reveal: create("reveal"),
    runner: create("runner"),
    console: create("console"),
  } satisfies Record<PolicyName, KeyWindow>;
}
