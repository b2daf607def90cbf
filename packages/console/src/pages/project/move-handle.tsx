import { useRef } from "preact/hooks";

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

interface MoveHandleProps {
  /** What it moves. */
  name: string;
  ids: readonly string[];
  id: string;
  /** Shows it at another place. */
  place: (at: number) => void;
  /** Keeps the places that are shown. */
  save: () => void;
}

/** Moves a column by dragging, also with a finger, or with the arrow keys. */
export function MoveHandle({ name, ids, id, place, save }: MoveHandleProps) {
  const latest = useRef({ ids, place, save });
  latest.current = { ids, place, save };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = ids.indexOf(id) + step;
    if (at < 0 || at >= ids.length) return;
    place(at);
    save();
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    // A column that moves in the document loses a captured pointer.
    const drag = new AbortController();
    const { signal } = drag;
    const { ids: before } = latest.current;
    const move = ({ clientX, clientY }: PointerEvent) => {
      const over = document.elementFromPoint(clientX, clientY)?.closest("[data-environment]");
      const at = latest.current.ids.indexOf(over?.getAttribute("data-environment") ?? "");
      if (at !== -1 && latest.current.ids[at] !== id) latest.current.place(at);
    };
    const end = () => {
      drag.abort();
      if (latest.current.ids.join() !== before.join()) latest.current.save();
    };
    window.addEventListener("pointermove", move, { signal });
    window.addEventListener("pointerup", end, { signal });
    window.addEventListener("pointercancel", end, { signal });
  };
  return (
    <button
      type="button"
      class="handle"
      aria-label={`Move ${name}`}
      title="Drag it, or press the arrow keys"
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
    >
      <svg viewBox="0 0 10 16" aria-hidden="true">
        <path d="M2 2v.01M8 2v.01M2 8v.01M8 8v.01M2 14v.01M8 14v.01" />
      </svg>
    </button>
  );
}
