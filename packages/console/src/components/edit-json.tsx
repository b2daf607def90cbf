import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { showHiddenInJson } from "../format.ts";
import { useReadOnce, type Version } from "../query.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { type Patch, type Saving, useEditedVersion } from "./edited-version.ts";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./form.tsx";
import { Pending } from "./list.tsx";
import { PatchDiff } from "./patch-diff.tsx";

interface EditJsonProps extends Saving {
  label: string;
  hint?: ComponentChildren;
  /** Announced when it is saved. */
  done: string;
  /** Another way to make the change, beside saving it. */
  other?: { verb: string; done: string; work: (patch: Patch) => Promise<unknown> } | undefined;
  /** What the button says that leaves the text as it was. */
  cancelVerb?: string;
}

/** A JSON document as text, with what the person and others change in it. */
export function EditJson({ title, ...props }: EditJsonProps & { title: string }) {
  return (
    <Dialog title={title} isWide onClose={props.onClose}>
      <InlineJsonEditor {...props} />
    </Dialog>
  );
}

/** The same in the page. */
export function InlineJsonEditor(props: EditJsonProps) {
  const { data, error } = useReadOnce(props.read);
  return data ? <Editor first={data} {...props} /> : <Pending error={error} />;
}

function useEditing(first: Version<unknown>, { other, ...props }: EditJsonProps) {
  const [text, setText] = useState(() => toText(first.value));
  const { value, problem } = parse(text);
  const editing = useEditedVersion(first, problem === undefined ? value : undefined, props);
  const writeOtherwise = async () => {
    await editing.requireSame();
    await other?.work(editing.patch);
  };
  return {
    ...editing,
    ...{ text, setText, problem },
    submit: () => editing.submit(props.done),
    submitOtherwise: () => editing.run(writeOtherwise, other?.done),
    addOthers: () => editing.addOthers((merged) => setText(toText(merged))),
  };
}

function Editor({ first, ...props }: EditJsonProps & { first: Version<unknown> }) {
  const { label, hint, other, onClose, cancelVerb = "Cancel" } = props;
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
        <Button onClick={onClose}>{cancelVerb}</Button>
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

export function Changes({ title, patch, children }: ChangesProps) {
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
