/** The values visited. Tests assert that the count grows linearly. */
export interface Work {
  nodes: number;
}

export interface Budget {
  bytes: number;
}

const encoder = new TextEncoder();

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** In UTF-8. Recurses, so the depth of the value must be bounded. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).byteLength;
}

/** Sets an own property, including `__proto__`, which an assignment does not create. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

/**
 * A deep copy; undefined if its JSON exceeds `budget`. Subtracts the bytes of the copy from
 * `budget`. Does not recurse, so that any depth is safe.
 */
export function cloneJson(value: unknown, work: Work, budget?: Budget): unknown {
  const pending: (readonly [source: object, copy: unknown[] | JsonObject])[] = [];
  const copyShallow = (source: unknown): unknown => {
    work.nodes += 1;
    if (budget) budget.bytes -= shallowBytes(source);
    if (typeof source !== "object" || source === null) return source;
    const copy = Array.isArray(source) ? [] : {};
    pending.push([source, copy]);
    return copy;
  };
  const root = copyShallow(value);
  for (const [source, copy] of pending) {
    if (budget && budget.bytes < 0) return undefined;
    if (Array.isArray(copy)) for (const child of source as unknown[]) copy.push(copyShallow(child));
    else for (const [key, child] of Object.entries(source)) setOwn(copy, key, copyShallow(child));
  }
  return budget && budget.bytes < 0 ? undefined : root;
}

function shallowBytes(value: unknown): number {
  if (typeof value !== "object" || value === null) return jsonBytes(value);
  // Two brackets, and a comma between each two values.
  if (Array.isArray(value)) return Math.max(2, value.length + 1);
  const keys = Object.keys(value);
  return keys.reduce((sum, key) => sum + jsonBytes(key) + 1, Math.max(2, keys.length + 1));
}

/**
 * Whether two values are equal JSON (RFC 6902, section 4.6): compares numbers by value, and ignores
 * the order of keys. Does not recurse.
 */
export function equalJson(one: unknown, other: unknown, work: Work): boolean {
  const pending: (readonly [unknown, unknown])[] = [[one, other]];
  for (const [a, b] of pending) {
    work.nodes += 1;
    if (a === b) continue;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false;
      a.forEach((each, index) => {
        pending.push([each, b[index]]);
      });
    } else if (isObject(a) && isObject(b)) {
      const keys = Object.keys(a);
      if (keys.length !== Object.keys(b).length) return false;
      if (!keys.every((key) => Object.hasOwn(b, key))) return false;
      for (const key of keys) pending.push([a[key], b[key]]);
    } else return false;
  }
  return true;
}

/** The same text for equal JSON, whatever the order of keys. Recurses, so the depth must be bounded. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (isObject(each) ? sortKeys(each) : each));
}

function sortKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}
