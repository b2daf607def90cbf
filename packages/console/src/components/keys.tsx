import { useEffect, useState } from "preact/hooks";
import { visiblePages } from "../commands.ts";
import { navigate, ROOT } from "../router.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Palette } from "./palette.tsx";

type Shown = "palette" | "keys" | undefined;

/** The keys that work on every page, and what they open. */
export function Keys() {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => listen(setShown), []);
  const close = () => setShown(undefined);
  return (
    <>
      <Button kind="small" onClick={() => setShown("palette")}>
        Go to <kbd class="wide">{isApple() ? "⌘K" : "Ctrl K"}</kbd>
      </Button>
      {shown === "palette" && <Palette onClose={close} />}
      {shown === "keys" && <KeyList onClose={close} />}
    </>
  );
}

function KeyList({ onClose }: { onClose: () => void }) {
  const keys = [
    [isApple() ? "⌘ K" : "Ctrl K", "Go to a page, a record or an action"],
    ["/", "Filter or search the page"],
    ...visiblePages().map(({ key, label }) => [`g ${key}`, label]),
    ["?", "Show these keys"],
    ["Esc", "Close a dialog"],
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <table>
        <tbody>
          {keys.map(([key, meaning]) => (
            <tr key={key}>
              <th scope="row">
                <kbd>{key}</kbd>
              </th>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function listen(show: (shown: Shown) => void): () => void {
  let afterG = false;
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) show("palette");
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    const page = afterG && visiblePages().find(({ key }) => key === event.key);
    afterG = event.key === "g";
    if (page) navigate(ROOT + page.path);
    else if (event.key === "?") show("keys");
    else if (event.key === "/") focusFilter(event);
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (!filter) return;
  event.preventDefault();
  filter.focus();
}

/** Also in a dialog, where the keys of the page do nothing. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input, textarea, select, dialog") !== null;
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
