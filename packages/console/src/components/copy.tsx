import { announce } from "../announce.ts";
import { Button } from "./button.tsx";

export function CopyButton({ text, what }: { text: string; what: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${what} copied.`);
    } catch {
      announce("The browser does not allow copying. Select the text instead.");
    }
  };
  return (
    <Button kind="small" label={`Copy: ${what}`} onClick={copy}>
      Copy
    </Button>
  );
}

/** A command for a terminal, ready to copy. */
export function Command({ text, what = "Command" }: { text: string; what?: string }) {
  return (
    <div class="command">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
