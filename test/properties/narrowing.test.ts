import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excessOf, type Narrowing } from "../../src/features/identity/api-keys/narrowing.ts";
import { grantsScope, SCOPES } from "../../src/lib/scopes.ts";

const scopes = fc.option(fc.uniqueArray(fc.constantFrom(...SCOPES), { maxLength: 6 }));
const ids = fc.option(fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }));
const narrowings: fc.Arbitrary<Narrowing> = fc.record({
  scopes,
  projectIds: ids,
  environmentIds: ids,
});

const isWithin = (a: Narrowing, b: Narrowing) => excessOf(a, b) === undefined;
const grants = ({ scopes: own }: Narrowing, needed: (typeof SCOPES)[number]) =>
  own === null || grantsScope(own, needed);
const reaches = (own: readonly string[] | null, id: string) => own === null || own.includes(id);

describe("a scope", () => {
  it("grants itself, and write grants read of the same kind and nothing else", () => {
    for (const granted of SCOPES) {
      const all = SCOPES.filter((needed) => grantsScope([granted], needed));
      const [subject, access] = granted.split(":");
      expect(all).toEqual(access === "write" ? [`${subject}:read`, granted] : [granted]);
    }
    expect(SCOPES).toHaveLength(21);
  });
});

describe("the narrowings of keys", () => {
  it("are an order: each is within itself, and what is within another is within its own", () => {
    fc.assert(
      fc.property(narrowings, narrowings, narrowings, (a, b, c) => {
        expect(isWithin(a, a)).toBe(true);
        if (isWithin(a, b) && isWithin(b, c)) expect(isWithin(a, c)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("are within another if, and only if, they give nothing that the other does not", () => {
    fc.assert(
      fc.property(narrowings, narrowings, (a, b) => {
        const isNoWider =
          SCOPES.every((scope) => !grants(a, scope) || grants(b, scope)) &&
          ["a", "b", "c", "d"].every(
            (id) =>
              (!reaches(a.projectIds, id) || reaches(b.projectIds, id)) &&
              (!reaches(a.environmentIds, id) || reaches(b.environmentIds, id)),
          ) &&
          (a.scopes !== null || b.scopes === null);
        expect(isWithin(a, b)).toBe(isNoWider);
      }),
      { numRuns: 500 },
    );
  });
});
