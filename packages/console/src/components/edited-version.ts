import { useState } from "preact/hooks";
import { diffDocuments } from "../../../../src/lib/json-diff.ts";
import { applyPatch } from "../../../../src/lib/json-patch.ts";
import { useAction } from "../action.ts";
import { isOutdated, type Schemas } from "../api.ts";
import type { Version } from "../query.ts";

/** Beyond it, a difference has no old values. */
const DIFF_BYTES = 256 * 1024;

export type Patch = readonly Schemas["PatchOperation"][];

export function differenceOf(before: unknown, after: unknown): Patch {
  return diffDocuments(before, after, DIFF_BYTES) as Schemas["PatchOperation"][];
}

export interface Saving {
  read: () => Promise<Version<unknown>>;
  /** Saves it if the version is still the present one. */
  save: (value: unknown, etag: string | undefined) => Promise<unknown>;
  reload: () => Promise<void>;
  /** Called when it is saved. */
  onClose: () => void;
}

/** What others have saved since `before`, which the person has begun with. */
interface Others {
  before: unknown;
  patch: Patch;
}

const OUTDATED = "Somebody else has saved it meanwhile. Compare, edit, and save again.";

/** A document that a person edits, from the version they began with. `value` undefined: it is not valid yet. */
export function useEditedVersion(
  first: Version<unknown>,
  value: unknown,
  { read, save, reload, onClose }: Saving,
) {
  const [base, setBase] = useState(first);
  const [others, setOthers] = useState<Others>();
  const action = useAction();
  const patch = value === undefined ? [] : differenceOf(base.value, value);
  const isReady = patch.length > 0;
  /** Returns the present version. Throws if others have changed the document since `base`. */
  const requireSame = async () => {
    const now = await read();
    const changed = differenceOf(base.value, now.value);
    setBase(now);
    if (changed.length === 0) return now.etag;
    setOthers({ before: base.value, patch: changed });
    throw new Error(OUTDATED);
  };
  const write = async () => {
    try {
      await save(value, base.etag);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      await save(value, await requireSame());
    }
    await reload();
  };
  const run = async (work: () => Promise<unknown>, done: string | undefined) => {
    if (isReady && (await action.run(work, done))) onClose();
  };
  return {
    ...{ patch, others, action, requireSame, run },
    isBlocked: action.isRunning || !isReady,
    submit: (done: string) => run(write, done),
    /** Gives `use` the value with what others have changed. The person's change wins. */
    addOthers: (use: (merged: unknown) => void) =>
      action.run(async () => use(merge(base.value, others?.before, value))),
  };
}

/** What is there now, with the changes that lead from `before` to `after`. */
function merge(now: unknown, before: unknown, after: unknown): unknown {
  try {
    const bounds = { copiedBytes: 0, oldValueBytes: 0 };
    return applyPatch(now, differenceOf(before, after), bounds).document;
  } catch (error) {
    throw new Error("You change what the others have removed. Undo that change first.", {
      cause: error,
    });
  }
}
