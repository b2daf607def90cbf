import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../action.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field, Form, type FormProps } from "./form.tsx";

interface DialogProps {
  title: string;
  isWide?: boolean;
  /** Called when it closes, also with Escape. What it showed leaves the memory with it. */
  onClose: () => void;
  children: ComponentChildren;
}

/** Props of a modal `<dialog>`. The browser keeps the focus inside and returns it afterwards. */
export function useModal(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // An empty list has a button that is gone once the list has an item.
      const isThere = opener instanceof HTMLElement && opener.isConnected;
      const next = isThere ? opener : document.querySelector("h1");
      next?.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return { ref, onCancel };
}

export function Dialog({ title, isWide = false, onClose, children }: DialogProps) {
  const modal = useModal(onClose);
  const id = useId();
  return (
    <dialog {...modal} class={isWide ? "wide-dialog" : ""} aria-labelledby={id}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface FormDialogProps extends FormProps {
  title: string;
  onClose: () => void;
}

/** A form that closes when it has worked. */
export function FormDialog({ title, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <Form {...form} />
    </Dialog>
  );
}

export interface Confirmation {
  title: string;
  /** What the button says. */
  verb: string;
  /** The name that the person must type, because data is deleted. */
  typed?: string;
  text: string;
  work: () => Promise<unknown>;
  /** Announced when it has worked. */
  done: string;
  onClose: () => void;
}

/** Asks before it does something that cannot be undone. */
export function Confirm({ title, verb, typed, text, work, done, onClose }: Confirmation) {
  const action = useAction();
  const [given, setGiven] = useState("");
  const isTyped = typed === undefined || given === typed;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isTyped && (await action.run(work, done))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <p>{text}</p>
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(props) => (
              <input
                {...props}
                class="input"
                autocomplete="off"
                value={given}
                onInput={(event) => setGiven(event.currentTarget.value)}
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
