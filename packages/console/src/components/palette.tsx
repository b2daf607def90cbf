import { useEffect, useId, useState } from "preact/hooks";
import { can } from "../access.ts";
import { client } from "../api.ts";
import { allCommands, linkToProject, type PaletteCommand } from "../commands.ts";
import { showHidden } from "../format.ts";
import { useModal } from "./dialog.tsx";

const MOST_SHOWN = 50;
/** Newest first, in pages of 100. */
const MOST_SEARCHED = 1_000;

/** Finds pages, projects, loaded resources and actions by a part of their names. */
export function Palette({ onClose }: { onClose: () => void }) {
  const modal = useModal(onClose);
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const search = useProjects(text !== "");
  const found = findCommands(uniqueCommands([...allCommands(), ...search.commands]), text);
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
      {found.length === 0 && (
        <p class="card">{search.isRunning ? "Searching…" : "Nothing has this name."}</p>
      )}
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

/** Reads the projects of the organization once there is a text, because most of them may not be loaded. */
function useProjects(isSearching: boolean) {
  const [commands, setCommands] = useState<readonly PaletteCommand[]>([]);
  const [isRunning, setRunning] = useState(false);
  useEffect(() => {
    if (!isSearching || !can("listProjects")) return;
    let isOpen = true;
    const read = async () => {
      const found: PaletteCommand[] = [];
      for await (const project of client.list("/v1/projects", { query: { limit: 100 } })) {
        if (!isOpen || found.push(linkToProject(project)) >= MOST_SEARCHED) break;
        if (found.length % 100 === 0) setCommands([...found]);
      }
      if (isOpen) setCommands(found);
    };
    setRunning(true);
    // What was found so far stays; another search reads the rest.
    read()
      .catch(() => undefined)
      .finally(() => setRunning(false));
    return () => {
      isOpen = false;
    };
  }, [isSearching]);
  return { commands, isRunning };
}

function uniqueCommands(commands: readonly PaletteCommand[]): PaletteCommand[] {
  return [...new Map(commands.map((each) => [each.id, each])).values()];
}

/** Those with every word of the text. */
function findCommands(commands: readonly PaletteCommand[], text: string): PaletteCommand[] {
  const words = text.normalize().toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, kind }: PaletteCommand) => {
    const name = `${label} ${kind}`.normalize().toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return commands.filter(fits).slice(0, MOST_SHOWN);
}
