import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { diffDocuments } from "../../../../src/lib/json-diff.ts";
import { applyPatch } from "../../../../src/lib/json-patch.ts";
import { useAction } from "../action.ts";
import { isOutdated, type Schemas } from "../api.ts";
import { showHiddenInJson } from "../format.ts";
import { useReadOnce, type Version } from "../query.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./form.tsx";
import { Pending } from "./list.tsx";
import { PatchDiff } from "./patch-diff.tsx";

/** Beyond it, a difference has no old values. */
export const DIFF_BYTES = 256 * 1024;

export type Patch = readonly Schemas["PatchOperation"][];

export function differenceOf(before: unknown, after: unknown): Patch {
  return diffDocuments(before, after, DIFF_BYTES) as Schemas["PatchOperation"][];
}

interface EditJsonProps {
  title: string;
  label: string;
  hint?: ComponentChildren;
  /** Announced when it is saved. */
  done: string;
  read: () => Promise<Version<unknown>>;
  /** Saves it if the version is still the present one. */
  save: (value: unknown, etag: string | undefined) => Promise<unknown>;
  /** Another way to make the change, beside saving it. */
  other?: { verb: string; done: string; work: (patch: Patch) => Promise<unknown> } | undefined;
  reload: () => Promise<void>;
  onClose: () => void;
}

/** A JSON document as text, with what the person and others change in it. */
export function EditJson(props: EditJsonProps) {
  const { data, error } = useReadOnce(props.read);
  return (
    <Dialog title={props.title} isWide onClose={props.onClose}>
      {data ? <Editor first={data} {...props} /> : <Pending error={error} />}
    </Dialog>
  );
}

/** What others have saved since `before`, which the person has begun with. */
interface Others {
  before: unknown;
  patch: Patch;
}

const OUTDATED = "Somebody else has saved it meanwhile. Compare, edit, and save again.";

function useEditing(first: Version<unknown>, { read, save, other, ...props }: EditJsonProps) {
  const [base, setBase] = useState(first);
  const [others, setOthers] = useState<Others>();
  const [text, setText] = useState(() => toText(first.value));
  const action = useAction();
  const { value, problem } = parse(text);
  const patch = problem === undefined ? differenceOf(base.value, value) : [];
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
    await props.reload();
  };
  const writeOtherwise = async () => {
    await requireSame();
    await other?.work(patch);
  };
  const run = async (work: () => Promise<unknown>, done: string | undefined) => {
    if (isReady && (await action.run(work, done))) props.onClose();
  };
  return {
    ...{ text, setText, problem, patch, others, action },
    isBlocked: action.isRunning || !isReady,
    submit: () => run(write, props.done),
    submitOtherwise: () => run(writeOtherwise, other?.done),
    addOthers: () =>
      action.run(async () => setText(toText(merge(base.value, others?.before, value)))),
  };
}

/** What is there now, with the changes that lead from `before` to `after`. */
function merge(now: unknown, before: unknown, after: unknown): unknown {
  try {
    const bounds = { copiedBytes: 0, oldValueBytes: 0 };
    return applyPatch(now, differenceOf(before, after), bounds).document;
  } catch (error) {
    throw new Error("You change what the others have removed. Edit the text.", { cause: error });
  }
}

function Editor({ first, ...props }: EditJsonProps & { first: Version<unknown> }) {
  const { label, hint, other, onClose } = props;
  const editing = useEditing(first, props);
  const { text, setText, problem, patch, others, action, isBlocked } = editing;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void editing.submit();
      }}
    >
      <Field label={label} hint={hint} problem={problem}>
        {(control) => (
          <textarea
            {...control}
            class="input"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="pair">
        {others && (
          <Changes title="What the others have changed" patch={others.patch}>
            <div>
              <Button kind="small" isBusy={problem !== undefined} onClick={editing.addOthers}>
                Add it to the text
              </Button>
            </div>
          </Changes>
        )}
        <Changes title="What you change" patch={problem === undefined ? patch : undefined} />
      </div>
      <ErrorNote error={action.error} />
      <div class="row">
        <Button type="submit" kind="primary" isBusy={isBlocked}>
          Save
        </Button>
        {other && (
          <Button isBusy={isBlocked} onClick={editing.submitOtherwise}>
            {other.verb}
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

interface ChangesProps {
  title: string;
  /** Undefined: the text is not JSON. */
  patch: Patch | undefined;
  children?: ComponentChildren;
}

function Changes({ title, patch, children }: ChangesProps) {
  return (
    <section class="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {patch ? <PatchDiff patch={patch} /> : <p class="soft">The text is not JSON yet.</p>}
      {children}
    </section>
  );
}

function toText(value: unknown): string {
  return showHiddenInJson(JSON.stringify(value, null, 2));
}

function parse(text: string): { value?: unknown; problem?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
