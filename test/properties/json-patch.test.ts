import fc from "fast-check";
import specification from "json-patch-test-suite/spec_tests.json";
import general from "json-patch-test-suite/tests.json";
import { describe, expect, it } from "vitest";
import { applyPatch, type Operation, PatchError, revertPatch } from "../../src/lib/json-patch.ts";
import { containersOf, INHERITED_KEYS, nested } from "../support/json.ts";

const KIB = 1024;
const BOUNDS = { copiedBytes: 1024 * KIB, oldValueBytes: 256 * KIB };

const apply = (document: unknown, patch: readonly object[], bounds = BOUNDS) =>
  applyPatch(document, patch as Operation[], bounds);

/** The message of the refusal of a patch. */
function refusal(document: unknown, patch: readonly object[], bounds = BOUNDS): PatchError {
  try {
    apply(document, patch, bounds);
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
  throw new Error(`Not refused: ${JSON.stringify(patch).slice(0, 200)}`);
}

interface Case {
  comment?: string;
  doc?: unknown;
  patch?: object[];
  expected?: unknown;
  error?: string;
  disabled?: boolean;
}

describe("the public test suite", () => {
  const cases = [...(specification as Case[]), ...(general as Case[])].filter(
    ({ disabled }) => !disabled,
  );

  it("has 91 cases", () => {
    expect(cases).toHaveLength(91);
  });

  it.each(cases.map((each, at) => [at, each.comment ?? each.error ?? "", each] as const))(
    "passes: %i %s",
    (_, __, { doc, patch = [], expected, error }) => {
      if (error !== undefined) refusal(doc, patch);
      else expect(apply(doc, patch).document).toStrictEqual(expected ?? doc);
    },
  );
});

describe("a patch that cannot be applied", () => {
  const add = (path: string, value: unknown = 1) => ({ op: "add", path, value });
  const remove = (path: string) => ({ op: "remove", path });
  const replace = (path: string) => ({ op: "replace", path, value: 1 });
  const test = (path: string, value: unknown = 1) => ({ op: "test", path, value });
  const move = (from: string, path: string) => ({ op: "move", from, path });
  const copy = (from: string, path: string) => ({ op: "copy", from, path });
  const document = { n: 1, s: "text", o: { p: {} }, a: [1, [2], {}], "": null };

  it.each<[string, object[]]>([
    ["member", [remove("/none"), replace("/none"), test("/none"), test("/none", null)]],
    ["member", [add("/none/x"), copy("/none", "/x"), move("/none", "/x"), add("/o/q/r")]],
    ["neither object nor array", [add("/n/x"), add("/s/0"), replace("/s/length"), add("//x")]],
    ["neither object nor array", [add("/n/toFixed/leak"), add("/s/at/x"), copy("/s/0", "/x")]],
    ["member", [add("/hasOwnProperty/call"), add("/__proto__/x"), add("/constructor/prototype/x")]],
    ["member", [remove("/toString"), copy("/__proto__", "/x"), move("/constructor", "/x")]],
    ["member", [test("/__proto__", {}), replace("/o/valueOf"), add("/a/2/__proto__/x")]],
    ["past the end", [add("/a/4"), remove("/a/3"), replace("/a/3"), test("/a/3"), add("/a/3/x")]],
    ["past the end", [add("/a/4294967295"), add("/a/9007199254740993"), copy("/a/1/1", "/x")]],
    ["past the end", [add(`/a/${"9".repeat(400)}`), move("/a/0", "/a/3"), remove("/a/1/7")]],
    ["Send its index", [add("/a/-1"), add("/a/01"), add("/a/+1"), add("/a/1e0"), add("/a/ 1")]],
    ["Send its index", [add("/a/length"), replace("/a/length"), remove("/a/length"), add("/a/")]],
    [
      "Send its index",
      [add("/a/push/x"), copy("/a/push", "/x"), add("/a/__proto__/x"), test("/a/1.0")],
    ],
    [
      "Send its index",
      [add("/a/__proto__"), replace("/a/constructor"), add("/a/٣"), add("/a/0x1")],
    ],
    ["only the path of an add", [remove("/a/-"), replace("/a/-"), test("/a/-"), add("/a/-/x")]],
    ["only the path of an add", [copy("/a/-", "/x"), move("/a/-", "/x"), move("/a/-", "/a/-")]],
    ["inside of the value", [move("/o", "/o/p"), move("/o", "/o/p/q"), move("", "/x")]],
    ["inside of the value", [move("/a", "/a/-"), move("/a/1", "/a/1/0")]],
    ["not a JSON Pointer", [add("n"), copy("n", "/x"), add("#/n"), add(" /n"), remove("-")]],
    ["without 0 or 1", [add("/a~"), add("/~2"), add("/~/x"), copy("/~", "/x"), add("/~a")]],
    ["does not have the value", [test("/n", 2), test("/n", "1"), test("/o", []), test("/a", [])]],
    ["does not have the value", [test("/o", { p: {}, q: 1 }), test("/o", {}), test("", {})]],
    ["does not have the value", [test("/o", { __proto__: null, toString: {} }), test("/", 0)]],
    ["whole document", [remove("")]],
    [
      "lacks value",
      [
        { op: "add", path: "/x" },
        { op: "replace", path: "/n" },
        { op: "test", path: "/n" },
      ],
    ],
    [
      "lacks from",
      [
        { op: "move", path: "/x" },
        { op: "copy", path: "/x" },
      ],
    ],
    [
      "out of add, remove",
      [
        { op: "spam", path: "/x" },
        { op: "constructor", path: "/x" },
      ],
    ],
  ])("is refused with a reason (%s) and the index of the operation", (reason, operations) => {
    for (const operation of operations) {
      const { index, message } = refusal(document, [add("/first"), operation, add("/last")]);
      expect([index, message]).toEqual([1, expect.stringContaining(reason)]);
    }
  });

  it("has a reason of limited length, for any path", () => {
    expect(refusal({}, [remove(`/${"k".repeat(100_000)}`)]).message.length).toBeLessThan(500);
  });

  it("does not change the document or the patch", () => {
    const frozen = freeze(structuredClone(document));
    const patch = freeze([add("/o/p/q", { x: [1] }), add("/a/-", {}), remove("/n"), remove("/n")]);
    expect(refusal(frozen, patch).index).toBe(3);
    expect(frozen).toStrictEqual(document);
  });
});

describe("a test", () => {
  it.each<[unknown, unknown, boolean]>([
    [1, 1.0, true],
    [0, -0, true],
    [1e2, 100, true],
    [1, true, false],
    [0, null, false],
    [0, "", false],
    ["é", "e\u0301", false],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [{ a: 1 }, { b: 1 }, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{}, null, false],
    [JSON.parse('{"__proto__":1}'), {}, false],
    [{}, JSON.parse('{"__proto__":{}}'), false],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}'), true],
    [{ toString: 1 }, { valueOf: 1 }, false],
    [nested(5_000), nested(5_000), true],
    [nested(5_000), nested(4_999), false],
  ])("of %j against %j: %s", (there, value, holds) => {
    const patch = [{ op: "test", path: "/x", value }];
    if (holds) apply({ x: there }, patch);
    else expect(refusal({ x: there }, patch).index).toBe(0);
  });
});

describe("keys with names of inherited properties", () => {
  const PROTOTYPES = [Object, Array, Number, String, Boolean, Function].map(
    (type) => type.prototype,
  );
  /** The properties of all built-in prototypes and of their functions. */
  const snapshot = () =>
    PROTOTYPES.flatMap((prototype) =>
      Reflect.ownKeys(prototype).flatMap((key) => {
        const { value } = Reflect.getOwnPropertyDescriptor(prototype, key) ?? {};
        return [key, value, ...(typeof value === "function" ? Reflect.ownKeys(value) : [])];
      }),
    );

  it.each(INHERITED_KEYS)("are ordinary data: %s", (key) => {
    const before = snapshot();
    const text = (json: string) => json.replaceAll("KEY", key);
    const document = JSON.parse(text('{"KEY":{"KEY":1},"o":{},"a":[]}'));
    const { document: result, oldValues } = apply(document, [
      { op: "test", path: `/${key}`, value: JSON.parse(text('{"KEY":1}')) },
      { op: "replace", path: `/${key}/${key}`, value: JSON.parse(text('{"KEY":[2]}')) },
      { op: "add", path: `/o/${key}`, value: 3 },
      { op: "copy", from: `/${key}`, path: `/o/${key}` },
      { op: "add", path: `/o/${key}/x`, value: 4 },
      { op: "add", path: "/a/-", value: JSON.parse(text('{"KEY":5}')) },
      { op: "move", from: `/a/0/${key}`, path: `/a/0/${key}2` },
      { op: "move", from: `/${key}/${key}/${key}`, path: `/a/0/${key}` },
      { op: "remove", path: `/${key}/${key}` },
    ]);
    expect(JSON.stringify(result)).toBe(
      text('{"KEY":{},"o":{"KEY":{"KEY":{"KEY":[2]},"x":4}},"a":[{"KEY2":5,"KEY":[2]}]}'),
    );
    const old = [undefined, "1", undefined, "3", undefined, undefined, undefined, undefined, "{}"];
    expect(oldValues?.map((each) => JSON.stringify(each))).toEqual(old);
    expect(snapshot()).toStrictEqual(before);
    for (const each of containersOf(result))
      expect(PROTOTYPES).toContain(Object.getPrototypeOf(each));
  });

  it("give no path access to a prototype", () => {
    const before = snapshot();
    const steps = [...INHERITED_KEYS, "call", "toFixed", "push", "length", "at", "0", "-"];
    const document = () => ({ o: {}, a: [[]], n: 1, s: "x", t: true, z: null });
    for (const first of ["", "/o", "/a", "/a/0", "/n", "/s", "/t", "/z"]) {
      for (const step of steps) {
        for (const leaf of [...steps, "leak"]) {
          const path = `${first}/${step}/${leaf}`;
          for (const operation of [
            { op: "add", path, value: 1 },
            { op: "replace", path, value: 1 },
            { op: "remove", path },
            { op: "test", path, value: null },
            { op: "copy", from: path, path: "/x" },
            { op: "move", from: path, path: "/x" },
            { op: "copy", from: "/n", path },
            { op: "move", from: "/n", path },
          ]) {
            // The only valid path: it adds an element to the inner array.
            if (path === "/a/0/0" || path === "/a/0/-") continue;
            refusal(document(), [operation]);
          }
        }
      }
    }
    expect(snapshot()).toStrictEqual(before);
  });
});

function freeze<Value>(value: Value): Value {
  for (const each of containersOf(value)) Object.freeze(each);
  return value;
}

describe("old values", () => {
  it("are the previous values at the paths, for all operations except test", () => {
    const patch = [
      { op: "test", path: "/a/0", value: 1 },
      { op: "add", path: "/a/0", value: 9 },
      { op: "add", path: "/a/-", value: 8 },
      { op: "add", path: "/o", value: null },
      { op: "replace", path: "/o", value: { y: 1 } },
      { op: "copy", from: "/a", path: "/o/y" },
      { op: "move", from: "/o/y", path: "/a" },
      { op: "remove", path: "/o" },
      { op: "add", path: "", value: [] },
    ];
    const { oldValues } = apply({ a: [1, 2], o: { x: 1 } }, patch);
    const grown = [9, 1, 2, 8];
    expect(oldValues).toEqual([
      undefined,
      1,
      undefined,
      { x: 1 },
      null,
      1,
      grown,
      {},
      { a: grown },
    ]);
  });

  it("are all omitted when they exceed the size limit", () => {
    const patch = [
      { op: "replace", path: "/a", value: 1 },
      { op: "replace", path: "/b", value: 1 },
      { op: "add", path: "/c", value: 1 },
    ];
    const document = { a: "xx", b: "é" };
    const at = (oldValueBytes: number) => apply(document, patch, { ...BOUNDS, oldValueBytes });
    expect(at(8).oldValues).toEqual(["xx", "é", undefined]);
    expect(at(7).oldValues).toBeUndefined();
    expect(at(7).document).toEqual({ a: 1, b: 1, c: 1 });
  });
});

describe("copies", () => {
  const doublings = Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/0" }));

  it("are refused at the operation where their total exceeds the size limit", () => {
    const patch = [0, 1, 2].map((at) => ({ op: "copy", from: "/a", path: `/b${at}` }));
    const at = (copiedBytes: number) => () =>
      apply({ a: ["é"] }, patch, { ...BOUNDS, copiedBytes });
    const size = new TextEncoder().encode('["é"]').byteLength;
    at(3 * size)();
    expect(at(3 * size - 1)).toThrow(expect.objectContaining({ index: 2 }));
    expect(refusal({ a: ["x".repeat(1_000)] }, doublings).message).toContain("too large to copy");
  });

  it("and moves may nest a document deeper than the call stack", () => {
    // Each copy of the document to the end of its deepest path adds 1,000 levels.
    const path = "/a".repeat(1_000);
    const patch = Array.from({ length: 12 }, () => ({ op: "copy", from: "", path }));
    expect(() => apply(nested(1_000), patch)).not.toThrow(RangeError);
    const chain = Array.from({ length: 200 }, (_, at) => [
      { op: "add", path: `/v${at}`, value: nested(64) },
      ...(at > 0 ? [{ op: "move", from: `/v${at - 1}`, path: `/v${at}${"/a".repeat(64)}` }] : []),
    ]).flat();
    const { document } = apply({}, chain);
    expect(containersOf(document)).toHaveLength(1 + 200 * 64);
  });
});

describe("a reverted patch", () => {
  it.each([
    { op: "replace", path: "/a", value: 1 },
    { op: "remove", path: "/b" },
  ])("needs the old value of $op", (operation) => {
    const { document } = apply({ a: 1, b: 2 }, [operation]);
    expect(() => revertPatch(document, [operation as Operation])).toThrow(PatchError);
  });

  it("is refused if a move shifts the member whose old value it records, and only then", () => {
    const original = { a: [9, { x: 1 }, { x: 2 }, { y: 3 }] };
    const revert = (path: string) => {
      const patch = { op: "move", from: "/a/0", path } as const;
      const { document, oldValues = [] } = apply(original, [patch]);
      return revertPatch(document, [{ ...patch, old_value: oldValues[0] }]);
    };
    expect(() => revert("/a/1/x")).toThrow("shifted");
    for (const path of ["/a/1", "/a/-", "/b"]) expect(revert(path)).toStrictEqual(original);
  });
});

describe("a result", () => {
  it("shares no value with the document, the patch, the old values, or within itself", () => {
    const value = { x: [{ y: 1 }] };
    const documents = [
      { a: { b: [{}] }, c: value },
      { a: { b: [[1], {}] }, c: {} },
    ];
    const operation = fc.constantFrom(
      { op: "add", path: "/a/b/0", value },
      { op: "add", path: "/d", value },
      { op: "replace", path: "/c", value },
      { op: "copy", from: "/a", path: "/a/copy" },
      { op: "copy", from: "/c", path: "/a/b/-" },
      { op: "copy", from: "", path: "/c" },
      { op: "move", from: "/a/b/0", path: "/e" },
      { op: "move", from: "/c", path: "/c" },
      { op: "test", path: "/c", value: {} },
      { op: "remove", path: "/d" },
    );
    const patches = fc.array(operation, { maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...documents), patches, (document, patch) => {
        freeze(document);
        freeze(patch);
        let applied: { document: unknown; oldValues: unknown[] | undefined };
        try {
          applied = apply(document, patch);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchError);
          return;
        }
        const own = [
          ...containersOf(applied.document),
          ...(applied.oldValues ?? []).flatMap(containersOf),
        ];
        const inputs = [document, ...patch.map((each) => ("value" in each ? each.value : 0))];
        const foreign = new Set(inputs.flatMap(containersOf));
        expect(new Set(own).size).toBe(own.length);
        expect(own.some((each) => foreign.has(each))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});
