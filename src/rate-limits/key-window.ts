import { LEASE_MS, Lease } from "./lease.ts";
import type { LeaseAnswer, LeaseRequest } from "./organization-window.ts";
import { type AdmissionLog, admit, type Decision, recentAdmissions } from "./window.ts";

/** How long a key admits requests on its own when its organization's object fails. */
const ALONE_MS = 1_000;
/** The share of the key's limit that it admits then, in a window. */
const ALONE_SHARE = 1 / 4;
const OVERLOADED_WAIT_MS = 1_000;

export interface KeyDecision {
  admitted: boolean;
  /** Whose window decided: an admission is always the key's. */
  by: "key" | "organization";
  /** How many more requests have room in that window now. */
  remaining: number;
  /** Milliseconds until a further request finds room that is not there now. */
  waitMs: number;
}

interface WaitingRequest {
  arrivedAt: number;
  resolve(decision: KeyDecision): void;
}

/** What to send to the organization's object. */
export interface PendingLease extends LeaseRequest {
  sentAt: number;
  /** When the oldest request that waits arrived; undefined if none does. */
  waitingSince: number | undefined;
}

/**
 * A key's window of one policy, together with its share in the organization's window. A request
 * needs room in its own window and one token of the organization: from the lease, or else from the
 * answer to a request that its caller sends. At most one such request is in progress. No I/O.
 */
export class KeyWindow {
  readonly #limit: number;
  readonly #lease: Lease;
  #log: AdmissionLog;
  #aloneLog: AdmissionLog = [];
  #aloneUntil = 0;
  #refusedUntil = 0;
  #waiting: WaitingRequest[] = [];
  #pending: PendingLease | undefined;
  /** Whether a request arrived since the last renewal: a renewal may bring nothing. */
  #isUsed = false;

  constructor(limit: number, log: AdmissionLog = []) {
    this.#limit = limit;
    this.#log = log;
    this.#lease = new Lease(limit);
  }

  /** When the admitted requests of the last window arrived. */
  get log(): AdmissionLog {
    return this.#log;
  }

  /** Decides on one request at `now`: at once, or through `resolve` once an answer has arrived. */
  consume(now: number, resolve: (decision: KeyDecision) => void): KeyDecision | undefined {
    this.#isUsed = true;
    const decision = this.#decide(now);
    if (!decision) this.#waiting.push({ arrivedAt: now, resolve });
    return decision;
  }

  /**
   * The request that is now to be sent to the organization's object, if any: for the requests that
   * wait, or to renew the lease before it runs out. Its caller reports what comes of it.
   */
  nextLease(now: number, newId: () => string): PendingLease | undefined {
    if (this.#pending || now < this.#aloneUntil || now < this.#refusedUntil) return undefined;
    // The log may hold more than the window, which only matters if a request waits.
    const log = this.#waiting.length > 0 ? recentAdmissions(this.#log, now) : this.#log;
    const waiting = Math.min(this.#waiting.length, this.#limit - log.length);
    const prefetch = this.#lease.shortage(log.length + waiting, now);
    if (waiting === 0 && (prefetch === 0 || !this.#isUsed)) return undefined;
    this.#isUsed = false;
    const reports = this.#lease.report(now);
    const waitingSince = this.#waiting[0]?.arrivedAt;
    this.#pending = { id: newId(), waiting, prefetch, reports, sentAt: now, waitingSince };
    return this.#pending;
  }

  /** The organization's object has answered the request in progress. */
  accept({ admitted, prefetched, waitMs }: LeaseAnswer, now: number): void {
    const pending = this.#endPending();
    if (!pending) return;
    // Measured from the request, the lease and the refusal end no later than at the other object.
    this.#lease.add(pending.id, prefetched, pending.sentAt + LEASE_MS);
    for (const { resolve } of this.#waiting.splice(0, admitted)) {
      resolve(this.#charge(admit(this.#log, this.#limit, now)));
    }
    if (admitted < pending.waiting) this.#refusedUntil = pending.sentAt + waitMs;
    this.#decideWaiting(now);
  }

  /** The organization's object is overloaded: requests without a token are refused for a second. */
  shedLoad(now: number): void {
    this.#endPending();
    this.#refusedUntil = now + OVERLOADED_WAIT_MS;
    this.#decideWaiting(now);
  }

  /** The organization's object fails: for a second, the key admits a quarter of its limit. */
  admitAlone(now: number): void {
    this.#endPending();
    this.#aloneUntil = now + ALONE_MS;
    this.#decideWaiting(now);
  }

  /** Undefined: the request has to wait for an answer of the organization's object. */
  #decide(now: number): KeyDecision | undefined {
    const next = admit(this.#log, this.#limit, now);
    if (!next.admitted) return this.#charge(next);
    // Each request that waits may be granted a token, and then needs its room in this window.
    const isRoomFree = next.remaining + 1 > this.#waiting.length;
    if (isRoomFree && this.#lease.take(now)) return this.#charge(next);
    if (now < this.#aloneUntil) return this.#decideAlone(next, now);
    return now < this.#refusedUntil ? refuse(this.#refusedUntil - now) : undefined;
  }

  #decideAlone(next: Decision, now: number): KeyDecision {
    const alone = admit(this.#aloneLog, Math.ceil(this.#limit * ALONE_SHARE), now);
    this.#aloneLog = alone.log;
    return alone.admitted ? this.#charge(next) : refuse(this.#aloneUntil - now);
  }

  /** A refused request leaves no trace in the log. */
  #charge({ admitted, remaining, waitMs, log }: Decision): KeyDecision {
    this.#log = log;
    return { admitted, by: "key", remaining, waitMs };
  }

  #endPending(): PendingLease | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }

  #decideWaiting(now: number): void {
    for (const request of this.#waiting.splice(0)) {
      const decision = this.#decide(now);
      if (decision) request.resolve(decision);
      else this.#waiting.push(request);
    }
  }
}

function refuse(waitMs: number): KeyDecision {
  return { admitted: false, by: "organization", remaining: 0, waitMs };
}
