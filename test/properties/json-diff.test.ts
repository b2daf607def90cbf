import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffDocuments } from "../../src/lib/json-diff.ts";
import { applyPatch } from "../../src/lib/json-patch.ts";
import { cloneJson, equalJson, jsonBytes } from "../../src/lib/json-value.ts";
import { containersOf, countNodes, jsonDocument, jsonObject, nested } from "../support/json.ts";

const BYTES = 256 * 1024;
const BOUNDS = { copiedBytes: 0, oldValueBytes: BYTES };
const ANY = { nodes: 0 };

const withoutOld = ({ old_value: _, ...operation }: { old_value?: unknown; path: string }) =>
  operation;

describe("the patch between two documents", () => {
  it("turns one document into the other, records old values, and respects its size limit", () => {
    const bound = fc.oneof(fc.constant(BYTES), fc.integer({ min: 0, max: 400 }));
    fc.assert(
      fc.property(jsonObject(), jsonObject(), bound, (from, to, maximum) => {
        const patch = diffDocuments(from, to, maximum);
        const { document, oldValues } = applyPatch(from, patch, BOUNDS);
        expect(equalJson(document, to, ANY)).toBe(true);
        const isWhole = patch.length === 1 && patch[0]?.path === "";
        if (!isWhole) expect(jsonBytes(patch)).toBeLessThanOrEqual(Math.max(2, maximum));
        if (isWhole)
          expect(jsonBytes(patch)).toBeLessThanOrEqual(Math.max(maximum, jsonBytes(to) + 60));
        const recorded = patch.map(({ old_value }) => old_value);
        if (recorded.some((each) => each !== undefined)) expect(recorded).toEqual(oldValues);
        if (maximum === BYTES) expect(recorded).toEqual(oldValues);
      }),
      { numRuns: 10_000 },
    );
  });

  it("is empty for equal documents, and has one operation for one difference", () => {
    fc.assert(
      fc.property(jsonObject(), jsonDocument(), (document, value) => {
        expect(diffDocuments(document, structuredClone(document), BYTES)).toEqual([]);
        const changed = { ...document, extra: value };
        expect(diffDocuments(document, changed, BYTES)).toEqual([
          { op: "add", path: "/extra", value },
        ]);
        expect(diffDocuments(changed, document, BYTES)).toEqual([
          { op: "remove", path: "/extra", old_value: value },
        ]);
      }),
    );
  });

  it("replaces whole arrays and scalars that differ, and compares objects by key", () => {
    const from = { a: [1, { x: 1 }], b: { "~/": { c: 1, d: 2 } }, e: 1, f: {} };
    const to = { a: [1, { x: 2 }], b: { "~/": { c: 1, d: 3 } }, e: "1", f: [] };
    expect(diffDocuments(from, to, BYTES)).toEqual([
      { op: "replace", path: "/a", value: to.a, old_value: from.a },
      { op: "replace", path: "/e", value: "1", old_value: 1 },
      { op: "replace", path: "/f", value: [], old_value: {} },
      { op: "replace", path: "/b/~0~1/d", value: 3, old_value: 2 },
    ]);
  });

  it("omits all old values above the size limit, and then becomes one replace", () => {
    const from = { a: "x".repeat(100), b: "x".repeat(100) };
    const to = { a: 1, b: 2 };
    const full = diffDocuments(from, to, BYTES);
    expect(full.map(({ old_value }) => old_value)).toEqual([from.a, from.b]);
    expect(diffDocuments(from, to, 200)).toEqual(full.map(withoutOld));
    expect(diffDocuments(from, to, 50)).toEqual([{ op: "replace", path: "", value: to }]);
  });

  it("is one replace where repeated long paths would be larger", () => {
    const key = "k".repeat(400);
    const chain = (leaf: number) => {
      let value: object = { leaf };
      for (let level = 0; level < 300; level += 1) value = { [key]: value, leaf };
      return value;
    };
    const [from, to] = [chain(1), chain(2)];
    expect(jsonBytes(to)).toBeLessThan(BYTES);
    const work = { nodes: 0 };
    const patch = diffDocuments(from, to, BYTES, work);
    // One patch cannot contain both documents.
    expect(patch).toEqual([{ op: "replace", path: "", value: to, old_value: from }]);
    expect(work.nodes).toBeLessThan(5 * countNodes([from, to]));
  });

  it.each([600, 50_000])("visits a linear number of nodes in arrays of %i elements", (length) => {
    const array = (offset: number) => Array.from({ length }, (_, at) => (at * 7 + offset) % 1_000);
    for (const [from, to] of [
      [{ a: array(0) }, { a: array(1) }],
      [{ a: array(0) }, { a: array(0).toReversed() }],
      [{ a: array(0) }, { a: [-1, ...array(0)] }],
      [{ a: array(0) }, { a: [] }],
      [{ a: array(0).map((n) => ({ n })) }, { a: array(0).map((n) => ({ n, m: n })) }],
      [Object.fromEntries(array(0).entries()), Object.fromEntries(array(1).entries())],
      [{ a: array(0) }, { a: array(0) }],
    ]) {
      const work = { nodes: 0 };
      const patch = diffDocuments(from, to, BYTES, work);
      expect(work.nodes).toBeLessThan(5 * countNodes([from, to]));
      expect(applyPatch(from, patch, BOUNDS).document).toEqual(to);
    }
  });

  it("supports any depth, and shares no value with either document", () => {
    const from = { deep: nested(20_000), same: {}, list: [{}] };
    const to = { deep: { a: nested(20_000) }, same: {}, list: [{ x: {} }] };
    const patch = diffDocuments(from, to, 10 * BYTES);
    const inputs = new Set([...containersOf(from), ...containersOf(to)]);
    expect(containersOf(patch).some((each) => inputs.has(each))).toBe(false);
    expect(patch).toHaveLength(2);
  });
});

describe("a copy with a byte budget", () => {
  it("uses exactly the bytes of its JSON, and fails with one byte less", () => {
    fc.assert(
      fc.property(jsonObject(), (document) => {
        const size = jsonBytes(document);
        const budget = { bytes: size };
        const copy = cloneJson(document, ANY, budget);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(document));
        expect(budget.bytes).toBe(0);
        expect(cloneJson(document, ANY, { bytes: size - 1 })).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});
