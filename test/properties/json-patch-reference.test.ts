import { env } from "cloudflare:workers";
import fc from "fast-check";
import { JSONPatch, JSONPatchError, JSONPointer, type JSONValue, jsonpointer } from "json-p3";
import { describe, expect, it } from "vitest";
import {
  applyPatch,
  type Operation,
  PatchError,
  type RecordedOperation,
  revertPatch,
} from "../../src/lib/json-patch.ts";
import { jsonDocument, pointersOf } from "../support/json.ts";

const BOUNDS = { copiedBytes: 2 ** 20, oldValueBytes: 2 ** 20 };
const REFUSED = Symbol("refused");
const TESTS = 10;
const RUNS = env.EFFORT.randomPatches;

/** How to generate an operation for a document; the numbers select paths and values. */
interface Choice {
  op: Operation["op"];
  path: number;
  from: number;
  value: unknown;
  /** Whether the path is valid for the operation, or arbitrary. */
  isWild: boolean;
  suffix: string;
}

const value = jsonDocument();
const choice: fc.Arbitrary<Choice> = fc.record({
  op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
  path: fc.nat(1_000),
  from: fc.nat(1_000),
  value,
  isWild: fc.nat(9).map((of10) => of10 === 0),
  suffix: fc.constantFrom("", "/-", "/0", "/1", "/9", "/01", "/-1", "/x", "/1e0", "/", "/a/a"),
});

const pick = <Item>(items: readonly Item[], at: number) => items[at % items.length];

function toOperation(document: unknown, made: Choice): Operation {
  const pointers = pointersOf(document);
  const { op, suffix } = made;
  const there = String(pick(pointers, made.path));
  const from = String(pick(pointers, made.from));
  if (made.isWild) return { op, path: there + suffix, from: from + suffix, value: made.value };
  if (op === "test") return { op, path: there, value: at(document, there) };
  if (op === "remove" || op === "replace") return { op, path: there, value: made.value };
  const places = pointers.flatMap((pointer) => {
    const held = at(document, pointer);
    if (Array.isArray(held)) return [pointer, `${pointer}/-`, `${pointer}/${held.length}`];
    return typeof held === "object" && held !== null ? [pointer, `${pointer}/new`] : [pointer];
  });
  return { op, path: String(pick(places, made.path)), from, value: made.value };
}

/** The value at a pointer according to json-p3; undefined if there is none. */
function at(document: unknown, pointer: string): unknown {
  try {
    return new JSONPointer(pointer).resolve(document as JSONValue);
  } catch {
    return undefined;
  }
}

/** Equal texts for objects that differ only in the order of their keys. */
const canonical = (document: unknown) =>
  JSON.stringify(document, (_, each) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted())
      : each,
  );

/**
 * Applies one operation with json-p3, except where it deviates: `copy` shares references, moving the
 * root to itself fails, tokens such as "01" count as the end of an array, and {} equals [].
 */
function applyReference(document: unknown, operation: Operation): unknown {
  const { op, path, from = "" } = operation;
  if (op === "move" && path === "" && from === "") return document;
  if (op === "move" && from !== "" && !path.startsWith(`${from}/`)) {
    const rest = applyReference(document, { op: "remove", path: from });
    // Checks the array's end after the removal, which may shift it.
    return rest === REFUSED
      ? REFUSED
      : applyReference(rest, { op: "add", path, value: at(document, from) });
  }
  const slash = Math.max(0, path.lastIndexOf("/"));
  const isElement = Array.isArray(at(document, path.slice(0, slash))) && path !== "";
  if (isElement && !/^(-|0|[1-9]\d*)$/.test(path.slice(slash + 1))) return REFUSED;
  const isEqual = canonical(at(document, path)) === canonical(operation.value);
  if (op === "test" && !isEqual) return REFUSED;
  const copy = JSON.parse(JSON.stringify({ document, operation }));
  try {
    if (op === "copy") {
      const value = JSON.parse(JSON.stringify(new JSONPointer(from).resolve(copy.document)));
      copy.operation = { op: "add", path, value };
    }
    return new JSONPatch([copy.operation]).apply(copy.document);
  } catch (error) {
    if (error instanceof JSONPatchError || error instanceof jsonpointer.JSONPointerError)
      return REFUSED;
    throw error;
  }
}

function applyOurs(document: unknown, patch: readonly Operation[]): unknown {
  try {
    return applyPatch(document, patch, BOUNDS).document;
  } catch (error) {
    if (error instanceof PatchError && error.index === patch.length - 1) return REFUSED;
    throw error;
  }
}

/** With old values, as a deployment stores it. */
function record(document: unknown, patch: readonly Operation[]): RecordedOperation[] {
  const { oldValues = [] } = applyPatch(document, patch, BOUNDS);
  const recorded = patch.map((each, at) => ({ ...each, old_value: oldValues[at] }));
  return JSON.parse(JSON.stringify(recorded));
}

/** A move of which no old value tells what was there. */
function revertOrRefuse(document: unknown, patch: readonly RecordedOperation[]): unknown {
  try {
    return revertPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError && patch[error.index]?.op === "move") return REFUSED;
    throw error;
  }
}

describe(`${TESTS * RUNS} random patches`, () => {
  it.each(Array.from({ length: TESTS }, (_, at) => at))(
    "have the same result or refusal as an independent implementation, and are reverted: part %i",
    () => {
      let applied = 0;
      let unknown = 0;
      fc.assert(
        fc.property(
          value,
          fc.array(choice, { minLength: 1, maxLength: 6 }),
          (document, choices) => {
            const patch: Operation[] = [];
            let expected = document;
            for (const each of choices) {
              const operation = toOperation(expected, each);
              patch.push(operation);
              expected = applyReference(expected, operation);
              if (expected === REFUSED) break;
            }
            expect(applyOurs(document, patch)).toStrictEqual(expected);
            if (expected === REFUSED) return;
            applied += 1;
            const before = revertOrRefuse(expected, record(document, patch));
            if (before === REFUSED) unknown += 1;
            else expect(before).toStrictEqual(document);
          },
        ),
        { numRuns: RUNS },
      );
      expect(unknown).toBeLessThan(RUNS / 50);
      expect(applied).toBeGreaterThan(RUNS / 3);
      expect(applied).toBeLessThan(RUNS);
    },
  );
});
