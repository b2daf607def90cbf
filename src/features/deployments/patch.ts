import { diffDocuments, type RecordedOperation } from "../../lib/json-diff.ts";
import { depthOf } from "../../lib/json-document.ts";
import { applyPatch, PatchError } from "../../lib/json-patch.ts";
import { isObject, jsonBytes } from "../../lib/json-value.ts";
import { LIMITS } from "../../lib/limits.ts";

export { OPERATIONS, PatchError } from "../../lib/json-patch.ts";

/** A JSON object. */
export type Document = Record<string, unknown>;

/** An operation as it is stored: `old_value` is what stood at `path` before, except for `test`. */
export type Operation = RecordedOperation;

export interface PatchedDocument {
  document: Document;
  /** Without old values if the patch is too large with them. */
  patch: Operation[];
  /** Whether the patch with its old values exceeds `LIMITS.patchBytes`. */
  isTooLarge: boolean;
}

/**
 * Applies a patch to a copy of a configuration. The result is an object, and nests at most to the
 * bound or as deep as the configuration does. Throws `PatchError`.
 */
export function patchDocument(document: Document, sent: readonly Operation[]): PatchedDocument {
  const patch = sent.map(({ old_value: _, ...operation }) => operation);
  const depth = Math.max(LIMITS.documentDepth.value, depthOf(document));
  const { document: result, oldValues } = applyPatch(document, patch, {
    copiedBytes: LIMITS.copiedBytes.value,
    oldValueBytes: LIMITS.patchBytes.value,
  });
  const last = patch.length - 1;
  if (!isObject(result)) throw new PatchError(last, "A configuration is a JSON object.");
  refuseDeeper(result, depth, last);
  const recorded = oldValues && patch.map((each, index) => record(each, oldValues[index]));
  recorded?.forEach(({ old_value }, index) => {
    refuseDeeper(old_value, depth, index);
  });
  const isTooLarge = !recorded || jsonBytes(recorded) > LIMITS.patchBytes.value;
  return { document: result, patch: isTooLarge ? patch : recorded, isTooLarge };
}

/** The patch from one configuration to another, with old values unless it is too large with them. */
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
