import type { Operation, RecordedOperation } from "./json-patch.ts";
import { escapeToken, getChild } from "./json-pointer.ts";
import { type Budget, cloneJson, equalJson, isObject, jsonBytes, type Work } from "./json-value.ts";

/** A value is undefined if its document has none at this path. */
interface NodePair {
  from: unknown;
  to: unknown;
  key: string;
  parent?: NodePair;
  pathBytes: number;
}

/** The longest operation with its comma, without its path and values. */
const OPERATION_BYTES = '{"op":"replace","path":"","value":,"old_value":},'.length;
const BRACKETS_BYTES = 2;
const SLASH_BYTES = 1;
const QUOTES_BYTES = 2;

/**
 * The patch (RFC 6902) that turns `from` into `to`. Compares objects by key; replaces whole arrays
 * and scalars. If the JSON of the patch exceeds `maximumBytes`, leaves out the old values; if it
 * still exceeds them, returns one `replace` of the whole document.
 */
export function diffDocuments(
  from: unknown,
  to: unknown,
  maximumBytes: number,
  work: Work = { nodes: 0 },
): RecordedOperation[] {
  const operations = toOperations(findDifferences(from, to, work), maximumBytes, work);
  if (operations) return operations;
  const root: NodePair = { from, to, key: "", pathBytes: 0 };
  const replacement = toOperations([root], maximumBytes, work);
  return replacement ?? [{ op: "replace", path: "", value: cloneJson(to, work) }];
}

/** Breadth first. Builds no paths, because most values are equal. */
function* findDifferences(from: unknown, to: unknown, work: Work): Generator<NodePair> {
  const pending: NodePair[] = [{ from, to, key: "", pathBytes: 0 }];
  for (const pair of pending) {
    const { from: before, to: after } = pair;
    if (!isObject(before) || !isObject(after)) {
      if (!equalJson(before, after, work)) yield pair;
      continue;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      work.nodes += 1;
      const member = { from: getChild(before, key), to: getChild(after, key) };
      if (member.from === member.to) continue;
      const pathBytes = pair.pathBytes + SLASH_BYTES + jsonBytes(escapeToken(key)) - QUOTES_BYTES;
      pending.push({ ...member, key, parent: pair, pathBytes });
    }
  }
}

/** Undefined if the operations exceed `maximumBytes` of JSON even without old values. */
function toOperations(
  pairs: Iterable<NodePair>,
  maximumBytes: number,
  work: Work,
): RecordedOperation[] | undefined {
  const budget = { bytes: maximumBytes - BRACKETS_BYTES };
  const changes: [Operation, before: unknown][] = [];
  for (const pair of pairs) {
    const operation = toOperation(pair, budget, work);
    if (!operation) return undefined;
    changes.push([operation, pair.from]);
  }
  const recorded: RecordedOperation[] = [];
  for (const [operation, before] of changes) {
    if (before === undefined) recorded.push(operation);
    else recorded.push({ ...operation, old_value: cloneJson(before, work, budget) });
    if (budget.bytes < 0) return changes.map(([each]) => each);
  }
  return recorded;
}

function toOperation(pair: NodePair, budget: Budget, work: Work): Operation | undefined {
  budget.bytes -= OPERATION_BYTES + pair.pathBytes;
  // Checked before the path is built: paths of a deep document can be far longer than the document.
  if (budget.bytes < 0) return undefined;
  const path = pathOf(pair);
  if (pair.to === undefined) return { op: "remove", path };
  const value = cloneJson(pair.to, work, budget);
  if (value === undefined) return undefined;
  return { op: pair.from === undefined ? "add" : "replace", path, value };
}

function pathOf(pair: NodePair): string {
  const tokens: string[] = [];
  for (let at = pair; at.parent; at = at.parent) tokens.push(`/${escapeToken(at.key)}`);
  return tokens.reverse().join("");
}
