import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { announce } from "../../announce.ts";
import { client, type Schemas } from "../../api.ts";
import { showHidden } from "../../format.ts";

type Environment = Schemas["EnvironmentOverview"];

/** The environments in their order, which a person may change. What is moved is shown at once, and saved afterwards. */
export function useOrder(
  projectId: string,
  environments: readonly Environment[],
  reload: () => Promise<void>,
) {
  const [moved, setMoved] = useState<readonly string[]>();
  const [error, setError] = useState<unknown>();
  const isSaving = useRef(false);
  const latest = useRef(moved);
  const focused = useRef<Element | null>(null);
  const byId = new Map(environments.map((each) => [each.id, each]));
  const saved = inOrder(environments);
  // One that was created or deleted meanwhile: the saved order is right.
  const isCurrent = moved?.length === saved.length && moved.every((id) => byId.has(id));
  const ids = moved && isCurrent ? moved : saved.map(({ id }) => id);
  // An element that moves in the document loses the focus.
  useLayoutEffect(() => {
    if (focused.current instanceof HTMLElement) focused.current.focus();
    focused.current = null;
  }, [moved]);
  const place = (id: string, at: number) => {
    focused.current = document.activeElement;
    const others = ids.filter((each) => each !== id);
    latest.current = others.toSpliced(at, 0, id);
    setMoved(latest.current);
    const name = showHidden(byId.get(id)?.name ?? "");
    announce(`${name} is now ${at + 1} of ${ids.length}.`);
  };
  const save = async () => {
    if (isSaving.current) return;
    isSaving.current = true;
    try {
      for (;;) {
        const sent = latest.current;
        if (!sent) break;
        await client.put("/v1/projects/{project_id}/environment-order", {
          path: { project_id: projectId },
          body: { environment_ids: [...sent] },
        });
        await reload();
        // Moved again meanwhile.
        if (latest.current === sent) break;
      }
      setError(undefined);
    } catch (failure) {
      setError(failure);
    } finally {
      isSaving.current = false;
      setMoved(undefined);
    }
  };
  const ordered = ids.flatMap((id) => byId.get(id) ?? []);
  return { ordered, ids, place, save, error };
}
