import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../action.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./form.tsx";

interface DialogProps {
  title: string;
  /** Called when it closes, also with Escape. What it showed leaves the memory with it. */
  onClose: () => void;
  children: ComponentChildren;
}

/** Modal. The browser keeps the focus inside and returns it afterwards. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  /** What the button says. */
  verb: string;
  /** The name that the person must type, because data is deleted. */
  typed?: string | undefined;
  work: () => Promise<unknown>;
  onClose: () => void;
  /** Announced when it has worked. */
  done: string;
}

/** Asks before it does something that cannot be undone. */
export function Confirm({ title, children, verb, typed, work, onClose, done }: ConfirmProps) {
  const action = useAction();
  const [text, setText] = useState("");
  const isTyped = typed === undefined || text === typed;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isTyped && (await action.run(work, done))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(props) => (
              <input
                {...props}
                class="input"
                autocomplete="off"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        <ErrorNote error={action.error} />
        <div class="row">
          <Button type="submit" kind="danger" isBusy={action.isRunning || !isTyped}>
            {verb}
          </Button>
          <Button onClick={onClose}>Back</Button>
        </div>
      </form>
    </Dialog>
  );
}
