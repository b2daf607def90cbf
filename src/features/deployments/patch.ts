import { applyPatch, createPatch, type Operation as LibraryOperation } from "rfc6902";

/** RFC 6902, section 4. */
export const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

/** A JSON object. */
export type Document = Record<string, unknown>;

export interface Operation {
  op: (typeof OPERATIONS)[number];
  path: string;
  from?: string | undefined;
  value?: unknown;
  /** What stood at `path` before. */
  old_value?: unknown;
}

/** A patch that cannot be applied: which of its operations stands in the way, and why. */
export class PatchRefused extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

const INDEX = /^(0|[1-9]\d*)$/;
const PROTOTYPE_KEYS = ["__proto__", "constructor", "prototype"];
const ESCAPES = /~(?![01])/;

/**
 * Applies a patch to a copy of `document`, and gives that with the operations as they are kept,
 * each with the value that it replaced. Throws `PatchRefused`. What an operation may grow the
 * document to is `maximum` characters of JSON: copies of copies double with each step.
 */
export function patchDocument(
  document: Document,
  patch: readonly Operation[],
  maximum: number,
): { document: Document; patch: Operation[] } {
  const root = { root: structuredClone(document) as unknown };
  const kept = patch.map((operation, index) => {
    const before = check(root.root, operation, index);
    const [failure] = applyPatch(root, [toLibrary(operation)]);
    if (failure) throw new PatchRefused(index, reasonOf(operation, failure.name));
    if (operation.op === "copy" && JSON.stringify(root).length > maximum) {
      throw new PatchRefused(index, "The configuration grows too large.");
    }
    return before === undefined || operation.op === "test"
      ? operation
      : { ...operation, old_value: before };
  });
  const result = root.root;
  if (typeof result !== "object" || result === null || Array.isArray(result)) {
    throw new PatchRefused(patch.length - 1, "A configuration is a JSON object.");
  }
  return { document: result as Document, patch: kept };
}

/** The patch that makes `to` of `from`, with the values that it replaces. */
export function patchBetween(from: Document, to: Document): Operation[] {
  const operations = createPatch(from, to) as Operation[];
  return patchDocument(from, operations, Number.POSITIVE_INFINITY).patch;
}

/** Refuses what the library would take amiss, and gives what stands at the operation's path. */
function check(document: unknown, operation: Operation, index: number): unknown {
  if (hasPrototypeKey(operation.value)) {
    throw new PatchRefused(index, "The value has a key that no configuration may have.");
  }
  if (operation.from !== undefined) locate(document, operation.from, index);
  const before = locate(document, operation.path, index);
  // A copy: the document goes on changing below it.
  return before === undefined ? undefined : structuredClone(before);
}

/** What stands at a JSON Pointer (RFC 6901), undefined for nothing. */
function locate(document: unknown, pointer: string, index: number): unknown {
  if ((pointer !== "" && !pointer.startsWith("/")) || ESCAPES.test(pointer)) {
    throw new PatchRefused(index, "Send a JSON Pointer, as /replicas.");
  }
  let at = document;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (PROTOTYPE_KEYS.includes(key)) {
      throw new PatchRefused(index, "The path names a key that no configuration may have.");
    }
    if (Array.isArray(at) && key !== "-" && !INDEX.test(key)) {
      throw new PatchRefused(
        index,
        "The path names an array's element by something else than its index.",
      );
    }
    const inside = typeof at === "object" && at !== null && Object.hasOwn(at, key);
    at = inside ? (at as Document)[key] : undefined;
  }
  return at;
}

function toLibrary({ op, path, from, value }: Operation): LibraryOperation {
  return {
    op,
    path: `/root${path}`,
    ...(from !== undefined && { from: `/root${from}` }),
    ...(value !== undefined && { value }),
  } as LibraryOperation;
}

function reasonOf({ op, path }: Operation, failure: string): string {
  if (failure === "TestError") return `The test at ${path} does not hold.`;
  return `${op} finds nothing to act on.`;
}

function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => PROTOTYPE_KEYS.includes(key) || hasPrototypeKey(inner),
  );
}
