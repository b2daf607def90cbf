import { diffDocuments } from "../../../lib/json-diff.ts";
import { depthOf } from "../../../lib/json-document.ts";
import {
  applyPatch,
  PatchError,
  type RecordedOperation,
  revertPatch,
} from "../../../lib/json-patch.ts";
import { isObject, jsonBytes } from "../../../lib/json-value.ts";
import { LIMITS } from "../../../lib/limits.ts";

export { OPERATIONS, PatchError } from "../../../lib/json-patch.ts";

export type Document = Record<string, unknown>;

/** `old_value` is the previous value at `path`; a `test` has none. */
export type Operation = RecordedOperation;

export interface PatchedDocument {
  document: Document;
  /** Without old values if `isTooLarge`. */
  patch: Operation[];
  /** The patch with its old values exceeds `LIMITS.patchBytes`. */
  isTooLarge: boolean;
}

/**
 * Throws `PatchError` if the result is not an object, or nests deeper than both the limit and the
 * configuration before.
 */
export function patchDocument(document: Document, sent: readonly Operation[]): PatchedDocument {
  const patch = sent.map(({ old_value: _, ...operation }) => operation);
  const depth = Math.max(LIMITS.documentDepth.value, depthOf(document));
  const { document: result, oldValues } = applyPatch(document, patch, {
    copiedBytes: LIMITS.copiedBytes.value,
    oldValueBytes: LIMITS.patchBytes.value,
  });
  const lastIndex = patch.length - 1;
  if (!isObject(result)) throw new PatchError(lastIndex, "A configuration is a JSON object.");
  refuseDeeper(result, depth, lastIndex);
  const recorded = oldValues && patch.map((each, index) => record(each, oldValues[index]));
  recorded?.forEach(({ old_value }, index) => {
    refuseDeeper(old_value, depth, index);
  });
  const isTooLarge = !recorded || jsonBytes(recorded) > LIMITS.patchBytes.value;
  if (!isTooLarge) return { document: result, patch: recorded, isTooLarge };
  // An `add` does not show that its old value is missing, and would seem to have had none.
  const showsMissingValues = patch.some(requiresOldValue);
  return {
    document: result,
    patch: showsMissingValues ? patch : patchBetween(document, result),
    isTooLarge,
  };
}

function requiresOldValue({ op }: Operation): boolean {
  return op === "replace" || op === "remove";
}

/** The document before a patch that gave `document`. Undefined if the patch lacks old values. */
export function documentBefore(
  document: Document,
  patch: readonly Operation[],
): Document | undefined {
  try {
    return revertPatch(document, patch) as Document;
  } catch (error) {
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

/** Without old values if it is too large with them. */
export function patchBetween(from: Document, to: Document): Operation[] {
  return diffDocuments(from, to, LIMITS.patchBytes.value);
}

function record(operation: Operation, before: unknown): Operation {
  return before === undefined ? operation : { ...operation, old_value: before };
}

function refuseDeeper(value: unknown, depth: number, index: number): void {
  if (depthOf(value) <= depth) return;
  throw new PatchError(index, `Nest the configuration at most ${depth} levels deep.`);
}
