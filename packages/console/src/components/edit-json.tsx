import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { diffDocuments } from "../../../../src/lib/json-diff.ts";
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

function Editor({ first, ...props }: EditJsonProps & { first: Version<unknown> }) {
  const { label, hint, read, save, other, reload, onClose } = props;
  const [base, setBase] = useState(first);
  const [theirs, setTheirs] = useState<Patch>();
  const [text, setText] = useState(() => showHiddenInJson(JSON.stringify(first.value, null, 2)));
  const action = useAction();
  const { value, problem } = parse(text);
  const patch = problem === undefined ? differenceOf(base.value, value) : [];
  const isReady = patch.length > 0;
  const saveOrCompare = async () => {
    try {
      await save(value, base.etag);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      const now = await read();
      setTheirs(differenceOf(base.value, now.value));
      setBase(now);
      throw new Error("Somebody else has saved it meanwhile. Compare, edit, and save again.", {
        cause: error,
      });
    }
    await reload();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isReady && (await action.run(saveOrCompare, props.done))) onClose();
  };
  const makeOther = async () => {
    if (other && (await action.run(() => other.work(patch), other.done))) onClose();
  };
  return (
    <form class="stack" onSubmit={submit}>
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
      <div class="grid">
        {theirs && <Changes title="What the others have changed" patch={theirs} />}
        <Changes title="What you change" patch={patch} />
      </div>
      <ErrorNote error={action.error} />
      <div class="row">
        <Button type="submit" kind="primary" isBusy={action.isRunning || !isReady}>
          Save
        </Button>
        {other && (
          <Button isBusy={action.isRunning || !isReady} onClick={makeOther}>
            {other.verb}
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

function Changes({ title, patch }: { title: string; patch: Patch }) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      <PatchDiff patch={patch} />
    </div>
  );
}

function parse(text: string): { value?: unknown; problem?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
