import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalId, encodeId, IDENTIFIER_PATTERN, newId } from "../../src/lib/ids.ts";
import { BASE58, toHex } from "../../src/lib/radix.ts";

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 });
const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

describe("identifiers", () => {
  it("identify the same record in all three formats", () => {
    fc.assert(
      fc.property(uuid, (bytes) => {
        const short = encodeId(bytes);
        const hex = toHex(bytes);
        expect(short).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22}$/);
        expect(canonicalId(short)).toBe(short);
        expect(canonicalId(hex)).toBe(short);
        expect(canonicalId(dashed(hex))).toBe(short);
      }),
    );
  });

  it("convert to UUIDs and back without loss", () => {
    fc.assert(
      fc.property(uuid, (bytes) => {
        let value = 0n;
        for (const digit of encodeId(bytes)) value = value * 58n + BigInt(BASE58.indexOf(digit));
        expect(value.toString(16).padStart(32, "0")).toBe(toHex(bytes));
      }),
    );
  });

  it("sort in the order of their UUIDs", () => {
    fc.assert(
      fc.property(uuid, uuid, (a, b) => {
        const asUuids = toHex(a) < toHex(b);
        expect(encodeId(a) < encodeId(b)).toBe(asUuids);
      }),
    );
  });

  it("sort by creation time", () => {
    const instant = fc.integer({ min: 0, max: 2 ** 47 });
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        fc.pre(a !== b);
        const [first, second] = [newId({ now: () => a }), newId({ now: () => b })];
        expect(first < second).toBe(a < b);
      }),
    );
  });

  it("match the pattern, and no other text is parsed as one", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-zA-Z-]{22,36}$/)), (text) => {
        expect(canonicalId(text) !== undefined).toBe(IDENTIFIER_PATTERN.test(text));
      }),
    );
  });

  it("beyond 128 bits are parsed unchanged", () => {
    expect(canonicalId("z".repeat(22))).toBe("z".repeat(22));
  });
});
