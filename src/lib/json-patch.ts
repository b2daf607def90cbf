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

export type RecordedOperation = Operation & { old_value?: unknown };

export class PatchError extends Error {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

export interface PatchBounds {
  /** The total of the values that the `copy` operations add. */
  copiedBytes: number;
  oldValueBytes: number;
}

export interface PatchResult {
  document: unknown;
  /**
   * For each operation, the value at its path before it: undefined if there was none, and for
   * `test`. Undefined as a whole if the values exceed `oldValueBytes`.
   */
  oldValues: unknown[] | undefined;
}

/**
 * Applies a patch (RFC 6902) to a copy of `document`. Reads own members and elements only, so that
 * every key is data, including `__proto__`. No value of the result is shared with `document`, with
 * `patch`, or with another part of the result. Throws `PatchError`.
 */
export function applyPatch(
  document: unknown,
  patch: readonly Operation[],
  bounds: PatchBounds,
  work: Work = { nodes: 0 },
): PatchResult {
  const target = new PatchTarget(cloneJson(document, work), bounds.copiedBytes, work);
  const budget = { bytes: bounds.oldValueBytes };
  let oldValues: unknown[] | undefined = [];
  for (const [index, operation] of patch.entries()) {
    try {
      const before = operation.op === "test" ? undefined : target.find(operation.path);
      const copy = oldValues && before !== undefined ? cloneJson(before, work, budget) : undefined;
      if (budget.bytes < 0) oldValues = undefined;
      oldValues?.push(copy);
      target.perform(operation);
    } catch (error) {
      throw error instanceof PointerError ? new PatchError(index, error.message) : error;
    }
  }
  return { document: target.document, oldValues };
}

/**
 * The document before a patch that gave `document`, from the old values of `applyPatch`. Throws
 * `PatchError` if a `remove` or a `replace` has none, and for a `move` out of an array to a member
 * of a later element of it, whose old value is that of another element.
 */
export function revertPatch(document: unknown, patch: readonly RecordedOperation[]): unknown {
  const work = { nodes: 0 };
  const target = new PatchTarget(cloneJson(document, work), 0, work);
  for (const [index, operation] of [...patch.entries()].reverse()) {
    try {
      target.revert(operation);
    } catch (error) {
      throw error instanceof PointerError ? new PatchError(index, error.message) : error;
    }
  }
  return target.document;
}

const ROOT = "document";

/** Changed in place. No two parts of the document share a value. */
class PatchTarget {
  /** Has the document as its member `ROOT`, so that the root has a parent like all other values. */
  readonly #holder: JsonObject;
  readonly #copyBudget: Budget;
  readonly #work: Work;

  constructor(document: unknown, copiedBytes: number, work: Work) {
    this.#holder = { [ROOT]: document };
    this.#copyBudget = { bytes: copiedBytes };
    this.#work = work;
  }

  get document(): unknown {
    return this.#holder[ROOT];
  }

  find(pointer: string): unknown {
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

  /** Undoes `perform`, for the newest operation of those that are not undone. */
  revert(operation: RecordedOperation): void {
    const { op, path, from = "", old_value } = operation;
    if (op === "test" || (op === "move" && path === from)) return;
    const before = () => cloneJson(required(old_value, "old_value", operation), this.#work);
    if (op === "remove") this.#add(path, before());
    else if (op === "replace") this.#replace(path, before());
    else if (op === "move") this.#revertMove(operation, from);
    else this.#revertAdd(path, old_value);
  }

  #revertMove({ path, old_value }: RecordedOperation, from: string): void {
    const { parent } = this.#locate(path);
    const isInserted = Array.isArray(parent);
    if (!isInserted && this.#isShifted(path, from)) {
      throw new PointerError(path, "has an old value that was read before the removal shifted it.");
    }
    const moved = this.#readAdded(path);
    this.#revertAdd(path, old_value);
    // The old value of a member that contained `from` has it.
    if (isInserted || !from.startsWith(`${path}/`)) this.#add(from, moved);
  }

  /** Whether removing `from` from its array has moved what `path` names. */
  #isShifted(path: string, from: string): boolean {
    const array = from.slice(0, from.lastIndexOf("/"));
    if (!path.startsWith(`${array}/`) || !Array.isArray(this.find(array))) return false;
    const [index] = path.slice(array.length + 1).split("/");
    return Number(index) >= Number(from.slice(array.length + 1));
  }

  #revertAdd(pointer: string, before: unknown): void {
    const { parent, token } = this.#locate(pointer);
    if (Array.isArray(parent)) parent.splice(indexOfAdded(parent, token), 1);
    else if (before === undefined) delete parent[token];
    else setOwn(parent, token, cloneJson(before, this.#work));
  }

  #readAdded(pointer: string): unknown {
    const { parent, token } = this.#locate(pointer);
    if (Array.isArray(parent)) return parent[indexOfAdded(parent, token)];
    return requireChild(parent, token, pointer);
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
    const copy = cloneJson(this.#read(from), this.#work, this.#copyBudget);
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

  /** The value itself need not exist. */
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

function indexOfAdded(array: readonly unknown[], token: string): number {
  return token === "-" ? array.length - 1 : Number(token);
}

function required<Value>(value: Value | undefined, field: string, operation: Operation): Value {
  if (value !== undefined) return value;
  throw new PointerError(operation.path, `lacks ${field}: ${operation.op} needs it.`);
}
