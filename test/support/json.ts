import fc from "fast-check";

/** Keys that a pointer escapes, and keys that look like indices. */
const PLAIN_KEYS = ["a", "b", "c", "", "~", "/", "~1", "0", "1", "é"];
/** Keys that objects have by inheritance. */
export const INHERITED_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
];

/** JSON documents of a small alphabet, so that two of them have much in common. */
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

/** The same, with an object as its root and keys that objects have by inheritance. */
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

/** Unlike an assignment, it makes `__proto__` a member. */
function toObject(members: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(members);
}

/** The objects and arrays in a value, each as often as it occurs. */
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

/** How many values a value has in it, itself included. */
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

/** `{"a":{"a":…}}`, of so many levels. */
export function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}
