import { LIMITS } from "../../../lib/limits.ts";

const REQUESTS = LIMITS.hostRequests.value;
const GOOD_MS = LIMITS.hostSuccessMs.value;
const WINDOW_MS = 1_000;
/** How late an organization may ask again, to find a request kept for it. */
export const KEPT_MS = 3_000;
/** An organization takes part in the turns until this long after it has asked, or should ask again. */
export const PRESENT_MS = 10_000;
export const MAX_WAIT_MS = 60_000;

export interface HostDecision {
  /** When to ask again, from now; 0 if the request may start. */
  waitMs: number;
  /** For how long further requests need not ask. */
  goodForMs: number;
}

interface Turn {
  /** Of the last request that was admitted. */
  admittedAt: number;
  /** When the last of those that were refused asks again. */
  asksAgainAt: number;
  presentUntil: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Admits the requests to one host: all of them within an hour of its last 2xx, otherwise 5 in
 * `(now - 1 s, now]`. Organizations that ask at the same time take turns: of `n`, each gets one request
 * in `n` fifths of a second, and one is kept for those that have waited longer and are about to ask again.
 */
export class HostWindow {
  /** Times of the requests of the last second, oldest first. */
  #admitted: number[] = [];
  /** By organization. */
  readonly #turns = new Map<string, Turn>();
  #succeededAt: number;
  #now = 0;

  constructor(succeededAt = NEVER) {
    this.#succeededAt = succeededAt;
  }

  succeed(now: number): void {
    this.#succeededAt = Math.max(this.#succeededAt, now);
  }

  goodForMs(now: number): number {
    return Math.max(0, this.#succeededAt + GOOD_MS - now);
  }

  ask(organizationId: string, time: number): HostDecision {
    // Keeps the times in order if the clock steps back.
    const now = Math.max(time, this.#now);
    this.#now = now;
    const goodForMs = this.goodForMs(now);
    if (goodForMs > 0) return { waitMs: 0, goodForMs };
    this.#dropExpired(now);
    const turn = this.#turnOf(organizationId);
    const admittedAt = this.#mayStartAt(turn, now);
    if (admittedAt > now) {
      // Spreads those that ask again as they can be admitted.
      const others = turn.asksAgainAt > now ? turn.asksAgainAt + this.#stepMs : now;
      turn.asksAgainAt = Math.min(Math.max(admittedAt, others), now + MAX_WAIT_MS);
    } else {
      this.#admitted.push(now);
      turn.admittedAt = now;
      if (turn.asksAgainAt <= now) turn.asksAgainAt = NEVER;
    }
    turn.presentUntil = Math.max(now, turn.asksAgainAt) + PRESENT_MS;
    return { waitMs: admittedAt > now ? turn.asksAgainAt - now : 0, goodForMs };
  }

  #mayStartAt({ admittedAt }: Turn, now: number): number {
    const kept = [...this.#turns.values()].filter(
      (other) =>
        other.admittedAt < admittedAt &&
        other.asksAgainAt - WINDOW_MS < now &&
        now <= other.asksAgainAt + KEPT_MS,
    );
    const hasRoom = this.#admitted.length + kept.length < REQUESTS;
    const [oldest = now] = this.#admitted;
    const isNextAt = this.#turns.size === 1 ? now : admittedAt + this.#stepMs;
    return Math.max(hasRoom ? now : oldest + WINDOW_MS, isNextAt);
  }

  /** How often one of the organizations gets a request. */
  get #stepMs(): number {
    return (this.#turns.size * WINDOW_MS) / REQUESTS;
  }

  #turnOf(organizationId: string): Turn {
    const turn = this.#turns.get(organizationId) ?? {
      admittedAt: NEVER,
      asksAgainAt: NEVER,
      presentUntil: NEVER,
    };
    this.#turns.set(organizationId, turn);
    return turn;
  }

  #dropExpired(now: number): void {
    this.#admitted = this.#admitted.filter((time) => time > now - WINDOW_MS);
    for (const [id, { presentUntil }] of this.#turns) {
      if (presentUntil <= now) this.#turns.delete(id);
    }
  }
}
