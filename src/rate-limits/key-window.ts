import { BoundedMap } from "../lib/bounded-map.ts";
import type { TokenRequest, TokenResponse } from "./organization-window.ts";
import { FALLBACK_MS, FALLBACK_SHARE, OVERLOADED_WAIT_MS } from "./policies.ts";
import { PrefetchedTokens, TOKEN_TTL_MS } from "./prefetched-tokens.ts";
import { type AdmissionLog, admit, type Decision, recentAdmissions } from "./window.ts";

export interface KeyDecision {
  admitted: boolean;
  /** Always `key` if the request is admitted. `budget`: the organization's, of database work. */
  by: "key" | "organization" | "budget";
  remaining: number;
  waitMs: number;
}

type Resolve = (decision: KeyDecision) => void;

interface WaitingRequest {
  arrivedAt: number;
  /** Whether the budget does not refuse it. */
  exemptFromBudget: boolean;
  /** Of the request and of its repeats. */
  resolvers: Resolve[];
}

export interface PendingRequest extends Omit<TokenRequest, "consumerId" | "units"> {
  sentAt: number;
  /** Arrival of the oldest waiting request; undefined if none waits. */
  waitingSince: number | undefined;
}

/**
 * A key's window of one policy. A request needs room in this window and one token of the
 * organization's window: a prefetched one, or else one from the response to a `TokenRequest`, which the
 * caller sends. At most one is pending. A repeat gets the decision of its request,
 * if that waits or was admitted. This class does no I/O.
 */
export class KeyWindow {
  readonly #limit: number;
  readonly #tokens: PrefetchedTokens;
  #log: AdmissionLog;
  #fallbackLog: AdmissionLog = [];
  #fallbackUntil = 0;
  #refusedUntil = 0;
  #overBudgetUntil = 0;
  /** By ID, in the order of arrival. */
  readonly #waiting = new Map<string, WaitingRequest>();
  /** By ID. Has room for as many as the window admits, so that each stays while it counts. */
  readonly #admissions: BoundedMap<string, KeyDecision>;
  #pending: PendingRequest | undefined;
  /** Whether a request arrived since the last renewal, which prevents endless renewals. */
  #isUsed = false;

  constructor(limit: number, log: AdmissionLog = []) {
    this.#limit = limit;
    this.#log = log;
    this.#tokens = new PrefetchedTokens(limit);
    this.#admissions = new BoundedMap(limit);
  }

  get log(): AdmissionLog {
    return this.#log;
  }

  /** For how long the budget of the organization is used up; 0 if it is not. */
  overBudgetMs(now: number): number {
    return Math.max(0, this.#overBudgetUntil - now);
  }

  /** Whether a new window would decide the same. */
  isIdle(now: number): boolean {
    if (this.#pending || this.#waiting.size > 0) return false;
    return recentAdmissions(this.#log, now).length === 0;
  }

  /**
   * Undefined if the request waits: `resolve` is called when the pending response has arrived.
   * @param id Of the request. A repeat has the same.
   * @param exemptFromBudget Whether the budget does not refuse the request.
   */
  consume(
    now: number,
    id: string,
    resolve: Resolve,
    exemptFromBudget = false,
  ): KeyDecision | undefined {
    const earlier = this.#admissions.get(id);
    if (earlier) return earlier;
    const waiting = this.#waiting.get(id);
    if (waiting) {
      waiting.resolvers.push(resolve);
      return undefined;
    }
    this.#isUsed = true;
    const decision = this.#decide(now, exemptFromBudget);
    if (decision) this.#remember(id, decision);
    else this.#waiting.set(id, { arrivedAt: now, exemptFromBudget, resolvers: [resolve] });
    return decision;
  }

  /**
   * The `TokenRequest` to send now, if any: for waiting requests, or before the prefetched tokens run
   * out. The caller then calls `accept`, `shedLoad` or `startFallback`.
   * @param hasCosts Whether the caller has something else to report, which is worth a request.
   */
  nextRequest(now: number, newId: () => string, hasCosts = false): PendingRequest | undefined {
    if (this.#pending || now < this.#fallbackUntil || now < this.#refusedUntil) return undefined;
    // The log may contain expired entries, which only matter if a request waits.
    const log = this.#waiting.size > 0 ? recentAdmissions(this.#log, now) : this.#log;
    const waiting = Math.min(this.#waiting.size, this.#limit - log.length);
    const prefetch = this.#isUsed ? this.#tokens.tokensToPrefetch(log.length + waiting, now) : 0;
    if (waiting === 0 && prefetch === 0 && !hasCosts) return undefined;
    this.#isUsed = false;
    const reports = this.#tokens.report(now);
    const waitingSince = this.#waiting.values().next().value?.arrivedAt;
    const exempt = Math.min(waiting, this.#exempt.length);
    this.#pending = { id: newId(), waiting, exempt, prefetch, reports, sentAt: now, waitingSince };
    return this.#pending;
  }

  accept({ admitted, prefetched, waitMs, overBudgetMs }: TokenResponse, now: number): void {
    const pending = this.#endPending();
    if (!pending) return;
    this.#overBudgetUntil = pending.sentAt + overBudgetMs;
    // Both times start when the request was sent, so they end no later than at the other object.
    this.#tokens.add(pending.id, prefetched, pending.sentAt + TOKEN_TTL_MS);
    const isOverBudget = overBudgetMs > 0;
    const candidates = isOverBudget ? this.#exempt : [...this.#waiting];
    for (const [id, request] of candidates.slice(0, admitted)) {
      this.#waiting.delete(id);
      this.#end(id, request, this.#record(admit(this.#log, this.#limit, now)));
    }
    const asked = isOverBudget ? pending.exempt : pending.waiting;
    if (admitted < asked) this.#refusedUntil = pending.sentAt + waitMs;
    this.#decideWaiting(now);
  }

  /** Called when the organization's object is overloaded. */
  shedLoad(now: number): void {
    this.#endPending();
    this.#refusedUntil = now + OVERLOADED_WAIT_MS;
    this.#decideWaiting(now);
  }

  /** Called when the organization's object fails. */
  startFallback(now: number): void {
    this.#endPending();
    this.#fallbackUntil = now + FALLBACK_MS;
    this.#decideWaiting(now);
  }

  get #exempt(): [id: string, request: WaitingRequest][] {
    return [...this.#waiting].filter(([, { exemptFromBudget }]) => exemptFromBudget);
  }

  /** Undefined if the request has to wait for the organization's object. */
  #decide(now: number, exemptFromBudget: boolean): KeyDecision | undefined {
    const next = admit(this.#log, this.#limit, now);
    if (!next.admitted) return this.#record(next);
    if (!exemptFromBudget && now < this.#overBudgetUntil) {
      return refuse("budget", this.#overBudgetUntil - now);
    }
    // Reserves room for the waiting requests, each of which may be granted a token.
    const hasRoom = next.remaining + 1 > this.#waiting.size;
    if (hasRoom && this.#tokens.consume(now)) return this.#record(next);
    if (now < this.#fallbackUntil) return this.#decideInFallback(next, now);
    return now < this.#refusedUntil ? refuse("organization", this.#refusedUntil - now) : undefined;
  }

  #decideInFallback(next: Decision, now: number): KeyDecision {
    const fallback = admit(this.#fallbackLog, Math.ceil(this.#limit * FALLBACK_SHARE), now);
    this.#fallbackLog = fallback.log;
    return fallback.admitted
      ? this.#record(next)
      : refuse("organization", this.#fallbackUntil - now);
  }

  #record({ admitted, remaining, waitMs, log }: Decision): KeyDecision {
    this.#log = log;
    return { admitted, by: "key", remaining, waitMs };
  }

  /** A refusal consumes nothing, so a repeat of it is decided again. */
  #remember(id: string, decision: KeyDecision): void {
    if (decision.admitted) this.#admissions.set(id, decision);
  }

  #end(id: string, { resolvers }: WaitingRequest, decision: KeyDecision): void {
    this.#remember(id, decision);
    for (const resolve of resolvers) resolve(decision);
  }

  #endPending(): PendingRequest | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }

  #decideWaiting(now: number): void {
    const requests = [...this.#waiting];
    this.#waiting.clear();
    for (const [id, request] of requests) {
      const decision = this.#decide(now, request.exemptFromBudget);
      if (decision) this.#end(id, request, decision);
      else this.#waiting.set(id, request);
    }
  }
}

function refuse(by: KeyDecision["by"], waitMs: number): KeyDecision {
  return { admitted: false, by, remaining: 0, waitMs };
}
