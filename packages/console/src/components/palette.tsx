import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { allCommands, type PaletteCommand } from "../commands.ts";
import { showHidden } from "../format.ts";

const MOST_SHOWN = 50;

/** Finds pages, loaded records and actions by a part of their names. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const found = findCommands(allCommands(), text);
  const selected = Math.min(at, found.length - 1);
  useEffect(() => {
    document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: "nearest" });
  }, [id, selected]);
  const choose = (command: PaletteCommand | undefined) => {
    if (!command) return;
    dialog.current?.close();
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (step === undefined) choose(found[selected]);
    else setAt((selected + step + found.length) % Math.max(1, found.length));
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <input
        class="input"
        role="combobox"
        aria-label="Go to a page, a record or an action"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${selected}` : undefined}
        placeholder="Go to…"
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Results">
        {found.map((command, index) => (
          // The keys are those of the combobox.
          <div
            role="option"
            key={command.id}
            id={`${id}-${index}`}
            aria-selected={index === selected}
            tabIndex={-1}
            onClick={() => choose(command)}
            onKeyDown={onKeyDown}
          >
            <span>{showHidden(command.label)}</span>
            <span class="soft">{command.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="card">Nothing that is loaded has this name.</p>}
    </dialog>
  );
}

/** Those with every word of the text. */
function findCommands(commands: readonly PaletteCommand[], text: string): PaletteCommand[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, kind }: PaletteCommand) => {
    const name = `${label} ${kind}`.toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return commands.filter(fits).slice(0, MOST_SHOWN);
}
