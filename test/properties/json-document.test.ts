import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { depthOf, documentProblem, nestsDeeper } from "../../src/lib/json-document.ts";
import { jsonDocument, jsonObject, nested } from "../support/json.ts";

const MAXIMUM = 64;

describe("the depth of a document", () => {
  it.each<[unknown, number]>([
    [null, 0],
    ["[[", 0],
    [{}, 1],
    [[], 1],
    [[1, {}], 2],
    [{ a: [{ b: 1 }], c: [] }, 3],
    [nested(100_000), 100_000],
  ])("of %j is %i", (document, depth) => {
    expect(depthOf(document)).toBe(depth);
  });

  it("is the nesting depth of its text, with any formatting", () => {
    fc.assert(
      fc.property(jsonDocument(), fc.constantFrom(undefined, 2, "\t"), (document, indent) => {
        const text = JSON.stringify(document, null, indent);
        const depth = depthOf(document);
        expect(nestsDeeper(text, depth)).toBe(false);
        expect(nestsDeeper(text, depth - 1)).toBe(true);
      }),
    );
  });

  it("ignores brackets in strings", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("[", "{", '"', "\\", "]", "}", "a") }),
        (text) => {
          expect(nestsDeeper(JSON.stringify([{ [text]: text }, text]), 2)).toBe(false);
          expect(nestsDeeper(JSON.stringify([text, { [text]: [text] }]), 2)).toBe(true);
        },
      ),
    );
  });

  it.each(["", "{", "]]]]", '"', '"\\', "}{", "nonsense", '["]'])(
    "is also computed for invalid JSON: %s",
    (text) => {
      expect(nestsDeeper(text, 1)).toBe(false);
      expect(nestsDeeper(`[[${text}`, 1)).toBe(true);
    },
  );
});

describe("the validation of a document", () => {
  it("accepts every valid document of 64 levels", () => {
    fc.assert(
      fc.property(jsonObject(), (document) => {
        expect(documentProblem(document)).toBeUndefined();
      }),
    );
    expect(documentProblem(nested(MAXIMUM))).toBeUndefined();
    for (const scalar of [null, 0, true, "a\tb\r\nc", undefined]) {
      expect(documentProblem(scalar)).toBeUndefined();
    }
  });

  it("reports the path and what to change", () => {
    const key = "a/~b";
    for (const [document, path, message] of [
      [{ [key]: [1, { x: "\u0000" }] }, [key, "1", "x"], "Send a text without control characters."],
      [["\ud83d"], ["0"], "Send a text without lone surrogates."],
      ["\u0085", [], "Send a text without control characters."],
      [{ a: { "b\n": 1 } }, ["a"], "Send keys without control characters."],
      [[{ "\udc00": 1 }], ["0"], "Send keys without lone surrogates."],
      [nested(65), Array(64).fill("a"), "Nest objects and arrays at most 64 levels deep."],
      [
        [nested(100_000)],
        ["0", ...Array(63).fill("a")],
        "Nest objects and arrays at most 64 levels deep.",
      ],
      [
        JSON.parse('{"__proto__":{"__proto__":"\\u0001"}}'),
        ["__proto__", "__proto__"],
        "Send a text without control characters.",
      ],
    ]) {
      expect(documentProblem(document)).toEqual({ path, message });
    }
  });
});
