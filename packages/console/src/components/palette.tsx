import { useEffect, useId, useState } from "preact/hooks";
import { allCommands, type PaletteCommand } from "../commands.ts";
import { showHidden } from "../format.ts";
import { useModal } from "./dialog.tsx";

const MOST_SHOWN = 50;

/** Finds pages, loaded resources and actions by a part of their names. */
export function Palette({ onClose }: { onClose: () => void }) {
  const modal = useModal(onClose);
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = findCommands(allCommands(), text);
  const selected = Math.min(at, found.length - 1);
  const choose = (command: PaletteCommand | undefined) => {
    if (!command) return;
    // Before the command moves the focus: the dialog returns it.
    modal.ref.current?.close();
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
    <dialog {...modal} class="palette" aria-label="Go to">
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
      <Results id={id} found={found} selected={selected} choose={choose} onKeyDown={onKeyDown} />
      {found.length === 0 && <p class="card">Nothing that is loaded has this name.</p>}
    </dialog>
  );
}

interface ResultsProps {
  /** The prefix of the elements' IDs. */
  id: string;
  found: readonly PaletteCommand[];
  /** The index of the one that Enter chooses. */
  selected: number;
  choose: (command: PaletteCommand) => void;
  /** The keys are those of the combobox. */
  onKeyDown: (event: KeyboardEvent) => void;
}

function Results({ id, found, selected, choose, onKeyDown }: ResultsProps) {
  useEffect(() => {
    document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: "nearest" });
  }, [id, selected]);
  return (
    <div role="listbox" id={`${id}-list`} aria-label="Results">
      {found.map((command, index) => (
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
