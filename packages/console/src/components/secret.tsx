import { Button } from "./button.tsx";
import { Command } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

export interface Secret {
  /** Of the dialog. */
  title: string;
  /** What it is, such as "API key". */
  what: string;
  secret: string;
  /** A command that uses it. */
  command?: string;
}

interface SecretDialogProps extends Secret {
  /** The owner of the secret removes it from its state. */
  onClose: () => void;
}

/** Shows a new secret once. */
export function SecretDialog({ title, what, secret, command, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now: it is not shown again.</p>
      <Command text={secret} what={what} />
      {command && (
        <>
          <p>Use it:</p>
          <Command text={command} />
        </>
      )}
      <div>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
