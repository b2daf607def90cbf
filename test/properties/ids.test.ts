import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalId, encodeId, IDENTIFIER_PATTERN, newId, timeOf } from "../../src/lib/ids.ts";
import { BASE58, toHex } from "../../src/lib/radix.ts";

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 });
const toUuid = (id: string) => {
  let value = 0n;
  for (const digit of id) value = value * 58n + BigInt(BASE58.indexOf(digit));
  return value.toString(16).padStart(32, "0");
};
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
        expect(toUuid(encodeId(bytes))).toBe(toHex(bytes));
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

  it("are UUIDs of version 7, with the time and 74 bits of their own", () => {
    const first = toUuid(newId({ now: () => 0 }));
    expect(first).toMatch(/^0{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (now) => {
        const id = newId({ now: () => now });
        expect(toUuid(id)).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
        expect(timeOf(id)).toBe(now);
      }),
    );
    const ones = 0x0fff_3fff_ffff_ffff_ffffn;
    const seen = Array.from({ length: 200 }, () => BigInt(`0x${toUuid(newId({ now: () => 0 }))}`));
    expect(seen.reduce((all, each) => all | each, 0n) & ones).toBe(ones);
    expect(seen.reduce((all, each) => all & each, ones) & ones).toBe(0n);
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
