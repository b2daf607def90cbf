import type { Operation } from "./json-patch.ts";
import { escapeToken, getChild } from "./json-pointer.ts";
import { type Budget, cloneJson, equalJson, isObject, jsonBytes, type Work } from "./json-value.ts";

/** An operation with what stood at its path before. */
export type RecordedOperation = Operation & { old_value?: unknown };

/** A path in both documents. Undefined is what a document does not have. */
interface JsonNode {
  from: unknown;
  to: unknown;
  key: string;
  above?: JsonNode;
  /** As JSON. */
  pathBytes: number;
}

/** Of the longest operation, with its comma and without its path and values. */
const OPERATION_BYTES = '{"op":"replace","path":"","value":,"old_value":},'.length;
const BRACKETS_BYTES = 2;
/** A key has two quotes as JSON, and a slash in a path. */
const QUOTES_AND_SLASH_BYTES = 2 - 1;

/**
 * The patch that turns `from` into `to`. Compares objects by key; replaces arrays and scalars that
 * differ as a whole. If the JSON of the patch exceeds `maximum` bytes, it has no old values; if it
 * exceeds them without, it is one `replace` of the whole document.
 */
export function diffDocuments(
  from: unknown,
  to: unknown,
  maximum: number,
  work: Work = { nodes: 0 },
): RecordedOperation[] {
  const found = toOperations(findDifferences(from, to, work), maximum, work);
  if (found) return found;
  const root: JsonNode = { from, to, key: "", pathBytes: 0 };
  const whole = toOperations([root], maximum, work);
  return whole ?? [{ op: "replace", path: "", value: cloneJson(to, work) }];
}

/** Breadth first: the paths of what is equal are never built. */
function* findDifferences(from: unknown, to: unknown, work: Work): Generator<JsonNode> {
  const pending: JsonNode[] = [{ from, to, key: "", pathBytes: 0 }];
  for (const place of pending) {
    const { from: before, to: after } = place;
    if (!isObject(before) || !isObject(after)) {
      if (!equalJson(before, after, work)) yield place;
      continue;
    }
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      work.nodes += 1;
      const member = { from: getChild(before, key), to: getChild(after, key) };
      if (member.from === member.to) continue;
      const pathBytes = place.pathBytes + jsonBytes(escapeToken(key)) - QUOTES_AND_SLASH_BYTES;
      pending.push({ ...member, key, above: place, pathBytes });
    }
  }
}

/** Undefined if they exceed `maximum` bytes of JSON, also without old values. */
function toOperations(
  places: Iterable<JsonNode>,
  maximum: number,
  work: Work,
): RecordedOperation[] | undefined {
  const budget = { bytes: maximum - BRACKETS_BYTES };
  const changes: [Operation, before: unknown][] = [];
  for (const place of places) {
    const operation = toOperation(place, budget, work);
    if (!operation) return undefined;
    changes.push([operation, place.from]);
  }
  const recorded: RecordedOperation[] = [];
  for (const [operation, before] of changes) {
    if (before === undefined) recorded.push(operation);
    else recorded.push({ ...operation, old_value: cloneJson(before, work, budget) });
    if (budget.bytes < 0) return changes.map(([each]) => each);
  }
  return recorded;
}

function toOperation(place: JsonNode, budget: Budget, work: Work): Operation | undefined {
  budget.bytes -= OPERATION_BYTES + place.pathBytes;
  // Before the path is built: the paths of a deep document can be far longer than the document.
  if (budget.bytes < 0) return undefined;
  const path = pathOf(place);
  if (place.to === undefined) return { op: "remove", path };
  const value = cloneJson(place.to, work, budget);
  if (value === undefined) return undefined;
  return { op: place.from === undefined ? "add" : "replace", path, value };
}

function pathOf(place: JsonNode): string {
  const tokens: string[] = [];
  for (let at = place; at.above; at = at.above) tokens.push(`/${escapeToken(at.key)}`);
  return tokens.reverse().join("");
}
