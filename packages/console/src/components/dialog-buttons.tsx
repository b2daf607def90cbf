import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommands } from "../commands.ts";
import { showHidden } from "../format.ts";
import { navigate } from "../router.ts";
import { Button, type ButtonKind, LinkButton } from "./button.tsx";
import { Confirm, type Confirmation } from "./dialog.tsx";
import { type Secret, SecretDialog } from "./secret.tsx";

/** What the dialog of a button gets. */
export interface OpenDialogProps {
  onClose: () => void;
  /** Reads again what the dialog has changed. */
  reload: () => Promise<void>;
  /** Shows a new secret in place of the dialog. */
  showSecret: (secret: Secret) => void;
}

/** Has the label of the button as its title, and its verb, unless it names others. */
export type ConfirmationOf = Omit<Confirmation, "title" | "verb" | "onClose"> &
  Partial<Pick<Confirmation, "title" | "verb">> & {
    /** Instead of reading again: what was shown is gone. */
    leave?: () => void;
  };

/** A button that opens a dialog, or leads to a page. */
export type DialogButton = {
  verb: string;
  /** What the button shows, such as a time that passes. Absent: the verb. */
  text?: ComponentChildren;
  /** The name for screen readers. Absent: the button's text. */
  label?: string;
  kind?: ButtonKind;
  /** Its name in the palette. Absent: it is not there. */
  inPalette?: string;
} & ({ dialog: ComponentType<OpenDialogProps> } | { confirm: ConfirmationOf } | { href: string });

/** False: the service would refuse it. */
export type Buttons = readonly (DialogButton | false)[];

function allowedOf(buttons: Buttons): DialogButton[] {
  return buttons.filter((each) => each !== false);
}

/** The dialog of one of several buttons. `commands` may be in the palette, too. */
export function useOpenDialog(reload: () => Promise<void>, commands: Buttons) {
  const [opened, open] = useState<DialogButton>();
  useCommands(
    allowedOf(commands).flatMap((each) =>
      each.inPalette
        ? [[each.inPalette, () => ("href" in each ? navigate(each.href) : open(each))] as const]
        : [],
    ),
  );
  // A secret may have taken the place of the dialog that closes.
  const onClose = () => open((now) => (now === opened ? undefined : now));
  const showSecret = (secret: Secret) =>
    open({ verb: "", dialog: (props) => <SecretDialog {...secret} onClose={props.onClose} /> });
  const dialog = opened && renderDialog(opened, { onClose, reload, showSecret });
  return { open, dialog };
}

function renderDialog(button: DialogButton, props: OpenDialogProps): VNode | null {
  if ("href" in button) return null;
  if ("dialog" in button) return <button.dialog {...props} />;
  const { label, verb } = button;
  const { leave = props.reload, work, ...confirmation } = button.confirm;
  const change = async () => {
    await work();
    await leave();
  };
  return (
    <Confirm
      title={showHidden(label ?? verb)}
      verb={verb}
      {...confirmation}
      work={change}
      onClose={props.onClose}
    />
  );
}

interface DialogButtonsProps {
  buttons: Buttons;
  kind?: ButtonKind;
  open: (button: DialogButton) => void;
  /** Whether they are here depends on what is being read: keeps their place, and shows nothing. */
  isUnknown?: boolean;
}

export function DialogButtons({ buttons, kind: usual, open, isUnknown }: DialogButtonsProps) {
  return (
    <span class={isUnknown ? "buttons unknown" : "buttons"}>
      {allowedOf(buttons).map((each) =>
        "href" in each ? (
          <LinkButton key={each.verb} kind={each.kind ?? usual} href={each.href}>
            {each.text ?? each.verb}
          </LinkButton>
        ) : (
          <Button
            key={each.verb}
            kind={each.kind ?? usual}
            label={each.label}
            onClick={() => open(each)}
          >
            {each.text ?? each.verb}
          </Button>
        ),
      )}
    </span>
  );
}

interface PageButtonsProps {
  buttons: Buttons;
  /** Reads the resource of the page again. Absent: each dialog leaves the page. */
  reload?: () => Promise<void>;
}

const readNothing = async () => undefined;

/** The buttons of a page, with their dialogs. */
export function PageButtons({ buttons, reload = readNothing }: PageButtonsProps) {
  const { open, dialog } = useOpenDialog(reload, buttons);
  return (
    <>
      <DialogButtons buttons={buttons} open={open} />
      {dialog}
    </>
  );
}
