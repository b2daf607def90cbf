import type { Mover } from "./use-order.ts";

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

interface MoveHandleProps {
  /** What it moves: the element around it that has the ID as `data-movable`. */
  name: string;
  id: string;
  mover: Mover;
}

/** Moves an item by dragging, also with a finger, or with the arrow keys. */
export function MoveHandle({ name, id, mover }: MoveHandleProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const ids = mover.ids();
    const index = ids.indexOf(id) + step;
    if (index < 0 || index >= ids.length) return;
    mover.moveTo(id, index);
    mover.save();
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    // An item that moves in the document loses a captured pointer.
    const drag = new AbortController();
    const { signal } = drag;
    const before = mover.ids();
    let lastOver: string | undefined;
    const move = ({ clientX, clientY }: PointerEvent) => {
      const over = document.elementFromPoint(clientX, clientY)?.closest("[data-movable]");
      const overId = over?.getAttribute("data-movable") ?? undefined;
      // One that is higher may still be below the pointer once it has moved away.
      const isAnother = overId !== undefined && overId !== id && overId !== lastOver;
      lastOver = overId;
      const index = isAnother ? mover.ids().indexOf(overId) : -1;
      if (index !== -1) mover.moveTo(id, index);
    };
    const end = () => {
      drag.abort();
      if (mover.ids().join() !== before.join()) mover.save();
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
