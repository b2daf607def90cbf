import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { inOrder, type Placed } from "../../../cli/src/in-order.ts";
import { announce } from "../announce.ts";
import { showHidden } from "../format.ts";

interface Item extends Placed {
  id: string;
  name: string;
}

/** What the items' handles use. It is always current, even for a handle that has left the document. */
export interface Mover {
  /** In the order that is shown. */
  ids: () => readonly string[];
  moveTo: (id: string, index: number) => void;
  /** Saves the order that is shown. */
  save: () => void;
}

interface OrderOptions<T> {
  items: readonly T[];
  put: (ids: string[]) => Promise<unknown>;
  reload: () => Promise<void>;
}

/** Items in their order, which a person may change. What is moved is shown at once, and saved afterwards. */
export function useOrder<T extends Item>({ items, put, reload }: OrderOptions<T>) {
  const [moved, setMoved] = useState<readonly string[]>();
  const [error, setError] = useState<unknown>();
  const isSaving = useRef(false);
  const latest = useRef(moved);
  const focusedId = useRef<string | undefined>(undefined);
  const byId = new Map(items.map((each) => [each.id, each]));
  const saved = inOrder(items);
  // One that was created or deleted meanwhile: the saved order is right.
  const isCurrent = moved?.length === saved.length && moved.every((id) => byId.has(id));
  const ids = moved && isCurrent ? moved : saved.map(({ id }) => id);
  const shown = useRef({ ids, byId });
  shown.current = { ids, byId };
  // An element that moves in the document loses the focus.
  useLayoutEffect(() => {
    if (focusedId.current !== undefined) findHandle(focusedId.current)?.focus();
    focusedId.current = undefined;
  }, [moved]);
  const moveTo = (id: string, index: number) => {
    if (document.activeElement === findHandle(id)) focusedId.current = id;
    const others = shown.current.ids.filter((each) => each !== id);
    latest.current = others.toSpliced(index, 0, id);
    shown.current.ids = latest.current;
    setMoved(latest.current);
    const name = showHidden(shown.current.byId.get(id)?.name ?? "");
    announce(`${name} is now ${index + 1} of ${others.length + 1}.`);
  };
  const save = async () => {
    if (isSaving.current) return;
    isSaving.current = true;
    try {
      for (;;) {
        const sent = latest.current;
        if (!sent) break;
        await put([...sent]);
        await reload();
        // Moved again meanwhile.
        if (latest.current === sent) break;
      }
      setError(undefined);
    } catch (failure) {
      setError(failure);
      // Others may have created or deleted one.
      await reload();
    } finally {
      isSaving.current = false;
      setMoved(undefined);
    }
  };
  const ordered = ids.flatMap((id) => byId.get(id) ?? []);
  const mover: Mover = { ids: () => shown.current.ids, moveTo, save };
  return { ordered, mover, error };
}

function findHandle(id: string) {
  return document.querySelector<HTMLElement>(`[data-movable="${id}"] .handle`);
}
