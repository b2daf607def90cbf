import fc from "fast-check";

/** Includes keys that a pointer escapes, and keys that look like indices. */
const PLAIN_KEYS = ["a", "b", "c", "", "~", "/", "~1", "0", "1", "é"];
/** Names of properties that every object inherits. */
export const INHERITED_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
];

/** JSON documents from a small alphabet, so that two of them have much in common. */
export function jsonDocument(keys: readonly string[] = PLAIN_KEYS): fc.Arbitrary<unknown> {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, depthIdentifier: "json" },
      { weight: 2, arbitrary: scalar },
      { weight: 2, arbitrary: fc.array(tie("tree"), { maxLength: 4, depthIdentifier: "json" }) },
      { weight: 3, arbitrary: objectOf(keys, tie("tree")) },
    ),
  }));
  return tree;
}

/** JSON documents with an object at the root, whose keys include inherited names. */
export function jsonObject(): fc.Arbitrary<Record<string, unknown>> {
  const keys = [...PLAIN_KEYS, ...INHERITED_KEYS];
  return objectOf(keys, jsonDocument(keys));
}

const scalar = fc.constantFrom<unknown>(0, 1, -1.5, "", "x", 'é"\\', null, true, false);

function objectOf(keys: readonly string[], value: fc.Arbitrary<unknown>) {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), {
      selector: ([key]) => key,
      maxLength: 4,
      depthIdentifier: "json",
    })
    .map((members) => toObject(members));
}

/** Unlike an assignment, `fromEntries` makes `__proto__` an own property. */
function toObject(members: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(members);
}

/** The objects and arrays in a value, repeated ones included. */
export function containersOf(value: unknown): object[] {
  const found: object[] = [value].filter(
    (each) => typeof each === "object" && each !== null,
  ) as object[];
  for (const each of found) {
    for (const child of Object.values(each)) {
      if (typeof child === "object" && child !== null) found.push(child);
    }
  }
  return found;
}

/** The number of values in a value, itself included. */
export function countNodes(value: unknown): number {
  return containersOf(value).reduce((sum, each) => sum + Object.keys(each).length, 1);
}

/** Every pointer of a document, parents before children. */
export function pointersOf(value: unknown, pointer = ""): string[] {
  if (typeof value !== "object" || value === null) return [pointer];
  return [
    pointer,
    ...Object.entries(value).flatMap(([key, child]) =>
      pointersOf(child, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    ),
  ];
}

/** `{"a":{"a":…}}`, nested to this depth. */
export function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}
