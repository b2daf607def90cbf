import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyDecision, KeyWindow } from "../../src/rate-limits/key-window.ts";
import { WINDOW_MS } from "../../src/rate-limits/policies.ts";
import { recentAdmissions } from "../../src/rate-limits/window.ts";

const LIMIT = 20;
const RUNS = 300;

/** `repeat` repeats one of the last requests, and `respond` is the organization's object. */
const step = fc.record({
  gapMs: fc.constantFrom(0, 0, 0, 1, 500, 5_000, 20_000, 59_999, 60_000),
  what: fc.constantFrom("request", "request", "repeat", "repeat", "respond", "fail"),
  /** Which request to repeat, and the share of a request for tokens that is granted. */
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** One key's window, and what its callers know of it. */
class Callers {
  readonly window = new KeyWindow(LIMIT);
  readonly ids: string[] = [];
  /** By the ID of the request: when it was admitted. */
  readonly admittedAt = new Map<string, number>();
  readonly #decisions = new Map<string, KeyDecision>();
  repeats = 0;
  #now = 1_000_000;
  #pending: ReturnType<KeyWindow["nextRequest"]>;

  wait(ms: number): void {
    this.#now += ms;
  }

  send(id: string): void {
    const decision = this.window.consume(this.#now, id, (late) => this.#decided(id, late));
    if (decision) this.#decided(id, decision);
    this.#request();
  }

  repeat(share: number): void {
    const id = this.ids.at(-1 - Math.floor(share * 2 * LIMIT));
    if (id !== undefined) this.send(id);
  }

  respond(share: number): void {
    if (!this.#pending) return;
    const admitted = Math.round(this.#pending.waiting * share);
    const prefetched = Math.round(this.#pending.prefetch * share);
    this.window.accept({ admitted, prefetched, waitMs: 1_000, overBudgetMs: 0 }, this.#now);
    this.#pending = undefined;
    this.#request();
  }

  fail(): void {
    if (!this.#pending) return;
    this.window.startFallback(this.#now);
    this.#pending = undefined;
  }

  /** How many requests were admitted in the last window, by what their callers know. */
  get admitted(): number {
    const times = [...this.admittedAt.values()];
    return times.filter((at) => at > this.#now - WINDOW_MS).length;
  }

  get counted(): number {
    return recentAdmissions(this.window.log, this.#now).length;
  }

  #request(): void {
    this.#pending ??= this.window.nextRequest(this.#now, () => "request");
  }

  #decided(id: string, decision: KeyDecision): void {
    const admittedAt = this.admittedAt.get(id);
    if (admittedAt !== undefined && this.#now < admittedAt + WINDOW_MS) {
      expect(decision).toEqual(this.#decisions.get(id));
      this.repeats += 1;
    } else if (decision.admitted && admittedAt === undefined) {
      this.admittedAt.set(id, this.#now);
      this.#decisions.set(id, decision);
    }
  }
}

describe("a key's window", () => {
  it("counts a request once, however often it is repeated while it counts", () => {
    let repeats = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 150 }), (steps) => {
        const callers = new Callers();
        for (const [each, { gapMs, what, share }] of steps.entries()) {
          callers.wait(gapMs);
          if (what === "request") {
            callers.ids.push(`request ${each}`);
            callers.send(`request ${each}`);
          } else if (what === "repeat") callers.repeat(share);
          else if (what === "respond") callers.respond(share);
          else callers.fail();
          expect(callers.counted).toBe(callers.admitted);
          expect(callers.counted).toBeLessThanOrEqual(LIMIT);
        }
        repeats += callers.repeats;
      }),
      { numRuns: RUNS },
    );
    expect(repeats).toBeGreaterThan(0);
  });
});
