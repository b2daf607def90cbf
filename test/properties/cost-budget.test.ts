import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CostBudget } from "../../src/rate-limits/cost-budget.ts";
import { WINDOW_MS } from "../../src/rate-limits/policies.ts";

const LIMIT = 1_000;
const CONSUMERS = ["ada", "ci", "grace"];

interface Charged {
  consumer: string;
  /** In whole seconds, the precision of the budget. */
  at: number;
  units: number;
}

const charge = fc.record({
  consumer: fc.constantFrom(...CONSUMERS),
  afterSeconds: fc.integer({ min: 0, max: 25 }),
  units: fc.integer({ min: 1, max: 400 }),
});
const charges = fc.array(charge, { maxLength: 30 });

function inOrder(each: readonly { consumer: string; afterSeconds: number; units: number }[]) {
  let at = 1_000_000;
  return each.map(({ consumer, afterSeconds, units }): Charged => {
    at += afterSeconds * 1_000;
    return { consumer, at, units };
  });
}

/** Four fifths are for all; the last one is for consumers that have used less than a fifth. */
function admits(charged: readonly Charged[], consumer: string, now: number): boolean {
  const recent = charged.filter(({ at }) => at + WINDOW_MS > now);
  const used = (of: readonly Charged[]) => of.reduce((total, { units }) => total + units, 0);
  const own = used(recent.filter((each) => each.consumer === consumer));
  const total = used(recent);
  return total < LIMIT && (total < (LIMIT * 4) / 5 || own < LIMIT / 5);
}

describe("a budget of database work", () => {
  it("admits a consumer from the first moment at which a naive model does, and not before", () => {
    fc.assert(
      fc.property(charges, (each) => {
        const charged = inOrder(each);
        const budget = new CostBudget(LIMIT);
        for (const [at, one] of charged.entries()) {
          budget.charge(String(at), one.consumer, one.units, one.at);
          const known = charged.slice(0, at + 1);
          for (const consumer of CONSUMERS) {
            const waitMs = budget.waitMs(consumer, one.at);
            expect(admits(known, consumer, one.at + waitMs)).toBe(true);
            if (waitMs > 0) expect(admits(known, consumer, one.at + waitMs - 1)).toBe(false);
          }
        }
      }),
    );
  });

  it("counts a report once, however often it arrives", () => {
    const budget = new CostBudget(LIMIT);
    for (let repeat = 0; repeat < 3; repeat += 1) budget.charge("a", "ada", 799, 0);
    expect(budget.waitMs("ada", 0)).toBe(0);
    budget.charge("b", "ada", 1, 0);
    expect(budget.waitMs("ada", 0)).toBe(WINDOW_MS);
  });

  it("is the same after it was stored, for consumers that used much", () => {
    const budget = new CostBudget(LIMIT);
    budget.charge("a", "ada", 500, 1_000);
    budget.charge("b", "ci", 350, 30_000);
    const restored = new CostBudget(LIMIT, structuredClone(budget.stored));
    for (const consumer of CONSUMERS) {
      expect(restored.waitMs(consumer, 31_000)).toBe(budget.waitMs(consumer, 31_000));
    }
    expect(restored.waitMs("ada", 31_000)).toBe(30_000);
    expect(restored.waitMs("grace", 31_000)).toBe(0);
  });
});
