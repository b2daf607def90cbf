import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Direction, decodeCursor, encodeCursor } from "../../src/lib/cursor.ts";
import { encodeId } from "../../src/lib/ids.ts";

const direction = fc.constantFrom<Direction>("asc", "desc");
const position = fc.record({
  createdAt: fc.integer({ min: 0, max: 8.64e15 / 4 }),
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(encodeId),
});
const other = (each: Direction) => (each === "asc" ? "desc" : "asc");

describe("cursors", () => {
  it("decode to the position that they encode", () => {
    fc.assert(
      fc.property(direction, position, (order, at) => {
        expect(decodeCursor(order, encodeCursor(order, at))).toEqual(at);
      }),
    );
  });

  it("need no URL escaping and no padding, and match the patterns of the contract", () => {
    fc.assert(
      fc.property(direction, position, (order, at) => {
        const cursor = encodeCursor(order, at);
        expect(cursor).toMatch(/^[a-zA-Z0-9]+$/);
        expect(cursor).toMatch(/^[a-zA-Z0-9+/=]+$/);
        expect(encodeURIComponent(cursor)).toBe(cursor);
      }),
    );
  });

  it("are also accepted in base64url", () => {
    fc.assert(
      fc.property(direction, position, (order, at) => {
        const url = encodeCursor(order, at).replaceAll("+", "-").replaceAll("/", "_");
        expect(decodeCursor(order, url)).toEqual(at);
      }),
    );
  });

  it("of one sort order are refused in the other", () => {
    fc.assert(
      fc.property(direction, position, (order, at) => {
        expect(decodeCursor(other(order), encodeCursor(order, at))).toBeUndefined();
      }),
    );
  });

  it("that are malformed are refused without an exception", () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.string().map((text) => btoa(encodeURIComponent(text))),
      position.map((at) => encodeCursor("asc", at).slice(1)),
    );
    fc.assert(
      fc.property(direction, garbage, (order, text) => {
        expect(decodeCursor(order, text)).toBeUndefined();
      }),
    );
  });
});
