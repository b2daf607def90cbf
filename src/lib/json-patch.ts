import {
  getChild,
  PointerError,
  parsePointer,
  requireChild,
  requireContainer,
  requireIndex,
} from "./json-pointer.ts";
import {
  type Budget,
  cloneJson,
  equalJson,
  type JsonObject,
  setOwn,
  type Work,
} from "./json-value.ts";

/** RFC 6902, section 4. */
export const OPERATIONS = ["add", "remove", "replace", "move", "copy", "test"] as const;

export interface Operation {
  op: (typeof OPERATIONS)[number];
  path: string;
  from?: string | undefined;
  value?: unknown;
}

/** A patch that cannot be applied: the index of the operation that fails, and the reason. */
export class PatchError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** In bytes of JSON. */
export interface PatchBounds {
  /** What the `copy` operations of a patch may add together. */
  copiedBytes: number;
  /** What the old values may take together. */
  oldValueBytes: number;
}

export interface Patched {
  document: unknown;
  /**
   * What stood at the path of each operation before it: undefined if nothing did, and for `test`. All
   * of them are undefined if together they exceed the bound.
   */
  oldValues: unknown[] | undefined;
}

/**
 * Applies a patch (RFC 6902) to a copy of `document`. Reads own members and elements only, so that
 * any key is data, also `__proto__`. The result shares no value with `document` or `patch`, nor
 * within itself. Throws `PatchError`.
 */
export function applyPatch(
  document: unknown,
  patch: readonly Operation[],
  bounds: PatchBounds,
  work: Work = { nodes: 0 },
): Patched {
  const target = new PatchTarget(cloneJson(document, work), bounds.copiedBytes, work);
  const budget = { bytes: bounds.oldValueBytes };
  let oldValues: unknown[] | undefined = [];
  for (const [index, operation] of patch.entries()) {
    try {
      const before = operation.op === "test" ? undefined : target.peek(operation.path);
      const kept = oldValues && before !== undefined ? cloneJson(before, work, budget) : undefined;
      if (budget.bytes < 0) oldValues = undefined;
      oldValues?.push(kept);
      target.perform(operation);
    } catch (error) {
      throw error instanceof PointerError ? new PatchError(index, error.message) : error;
    }
  }
  return { document: target.document, oldValues };
}

/** The member of the holder that is the document. */
const ROOT = "document";

/** A document that operations change in place; every value in it is a copy of its own. */
class PatchTarget {
  /** Holds the document as a member, so that its root is a place like any other. */
  readonly #holder: JsonObject;
  readonly #copies: Budget;
  readonly #work: Work;

  constructor(document: unknown, copiedBytes: number, work: Work) {
    this.#holder = { [ROOT]: document };
    this.#copies = { bytes: copiedBytes };
    this.#work = work;
  }

  get document(): unknown {
    return this.#holder[ROOT];
  }

  /** What stands at a pointer, or undefined if there is none. */
  peek(pointer: string): unknown {
    return [ROOT, ...parsePointer(pointer)].reduce<unknown>((value, token) => {
      this.#work.nodes += 1;
      return getChild(value, token);
    }, this.#holder);
  }

  perform(operation: Operation): void {
    const { op, path } = operation;
    const from = () => required(operation.from, "from", operation);
    const value = () => required(operation.value, "value", operation);
    if (op === "add") this.#add(path, cloneJson(value(), this.#work));
    else if (op === "remove") this.#remove(path);
    else if (op === "replace") this.#replace(path, cloneJson(value(), this.#work));
    else if (op === "move") this.#move(from(), path);
    else if (op === "copy") this.#copy(from(), path);
    else if (op === "test") this.#test(path, value());
    else throw new PointerError(path, `needs an op out of ${OPERATIONS.join(", ")}.`);
  }

  #add(pointer: string, value: unknown): void {
    const { parent, token } = this.#locate(pointer);
    if (!Array.isArray(parent)) setOwn(parent, token, value);
    else if (token === "-") parent.push(value);
    else parent.splice(requireIndex(token, parent.length, pointer), 0, value);
  }

  #remove(pointer: string): void {
    if (pointer === "") {
      throw new PointerError(pointer, "is the whole document. Send replace instead.");
    }
    const { parent, token } = this.#locate(pointer);
    requireChild(parent, token, pointer);
    if (Array.isArray(parent)) parent.splice(Number(token), 1);
    else delete parent[token];
  }

  #replace(pointer: string, value: unknown): void {
    const { parent, token } = this.#locate(pointer);
    requireChild(parent, token, pointer);
    if (Array.isArray(parent)) parent[Number(token)] = value;
    else setOwn(parent, token, value);
  }

  #move(from: string, path: string): void {
    const value = this.#read(from);
    if (path === from) return;
    if (path.startsWith(`${from}/`)) {
      throw new PointerError(path, "is inside of the value to move.");
    }
    this.#remove(from);
    this.#add(path, value);
  }

  #copy(from: string, path: string): void {
    const copy = cloneJson(this.#read(from), this.#work, this.#copies);
    if (copy === undefined) {
      throw new PointerError(from, "is too large to copy. Send fewer or smaller copies.");
    }
    this.#add(path, copy);
  }

  #test(pointer: string, value: unknown): void {
    if (equalJson(value, this.#read(pointer), this.#work)) return;
    throw new PointerError(pointer, "does not have the value of the test.");
  }

  #read(pointer: string): unknown {
    const { parent, token } = this.#locate(pointer);
    return requireChild(parent, token, pointer);
  }

  /** The object or array that holds what a pointer names, which need not exist. */
  #locate(pointer: string): { parent: unknown[] | JsonObject; token: string } {
    const tokens = [ROOT, ...parsePointer(pointer)];
    const token = tokens.pop() ?? ROOT;
    const parent = tokens.reduce<unknown>((value, each) => {
      this.#work.nodes += 1;
      return requireChild(value, each, pointer);
    }, this.#holder);
    return { parent: requireContainer(parent, pointer), token };
  }
}

function required<Value>(value: Value | undefined, field: string, operation: Operation): Value {
  if (value !== undefined) return value;
  throw new PointerError(operation.path, `lacks ${field}: ${operation.op} needs it.`);
}
