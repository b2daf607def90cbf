import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInexactNumber } from "../../src/lib/json-numbers.ts";

const NUMBER_OF_RUNS = 2_000;

const EXACT = [
  ..."0 -0 7 -7 0.1 1.10 1e2 1E+2 100e-2 0.0 0e999 1.000e0 9007199254740992 1e308 -1e308 5e-324".split(
    " ",
  ),
  "123456789012345680000",
  "0.30000000000000004",
  `1${"0".repeat(300)}`,
  `0.1${"0".repeat(100_000)}`,
];
const INEXACT = [
  ..."12345678901234567890 9007199254740993 1e999 -1e999 1e-400 0.1000000000000000055 1e309".split(
    " ",
  ),
  "1.00000000000000000001",
  "1".repeat(400),
  `0.${"0".repeat(100_000)}1`,
];

const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 25 });
const numbers = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 25n }),
    fc.option(digits),
    fc.option(fc.integer({ min: -30, max: 30 })),
  )
  .map(([whole, fraction, exponent]) =>
    [whole, fraction === null ? "" : `.${fraction}`, exponent === null ? "" : `e${exponent}`].join(
      "",
    ),
  );

/** The value in units of 10^-400, of which each value here is a multiple. */
function unitsOf(number: string): bigint {
  const [coefficient = "", exponent = "0"] = number.split("e");
  const [whole = "", fraction = ""] = coefficient.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(400 + Number(exponent) - fraction.length);
}

describe("a number of JSON", () => {
  it.each(EXACT)("%.40s is what its double is, in the shortest form", (number) => {
    expect(findInexactNumber(`{"a":[${number}]}`)).toBeUndefined();
    expect(findInexactNumber(number)).toBeUndefined();
  });

  it.each(INEXACT)("%.40s becomes another value, and is found", (number) => {
    expect(findInexactNumber(`{"a":[${number}]}`)).toEqual({
      path: "a.0",
      becomes: Number(number),
    });
    expect(findInexactNumber(number)).toEqual({ path: "", becomes: Number(number) });
    // A text keeps its digits.
    expect(findInexactNumber(JSON.stringify({ [number]: `\\"${number}` }))).toBeUndefined();
  });

  it("is compared as its decimal value", () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const isExact = unitsOf(number) === unitsOf(String(Number(number)));
        expect(findInexactNumber(`[${number}]`) === undefined).toBe(isExact);
      }),
      { numRuns: NUMBER_OF_RUNS },
    );
  });

  it("that a serializer has written is always accepted", () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
        expect(findInexactNumber(JSON.stringify(number))).toBeUndefined();
      }),
      { numRuns: NUMBER_OF_RUNS },
    );
  });

  it("has the path of the place that it is found at", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.json({ maxDepth: 3 }), (before, after) => {
        const json = `{"a":${before},"b":[${before},{"c\\"}":${before},"d":[[],1e999,${after}]}]}`;
        const found = findInexactNumber(
          json.replaceAll(/(?<=[^\d.])-?\d+e[+-]?\d+(?=[,\]}])/g, "1e999"),
        );
        expect(found?.becomes).toBe(Number.POSITIVE_INFINITY);
      }),
    );
    const json = '{"a":{"x":[1,"]"]},"b":[[2],{"c\\"}":["{"],"d":[[],1e999]}]}';
    expect(findInexactNumber(json)?.path).toBe("b.1.d.1");
  });

  it.each(['["1e999', "1e999.1e", '"\\', "[".repeat(100_000), '\\"'.repeat(100_000)])(
    "is looked for in a text that is not valid JSON, too: %.20s",
    (json) => {
      expect(() => findInexactNumber(`1e1${json}`)).not.toThrow();
    },
  );
});
