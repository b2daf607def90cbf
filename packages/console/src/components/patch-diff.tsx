import { toPatchLines } from "../../../cli/src/deployments/patch-lines.ts";
import type { Schemas } from "../api.ts";

const CLASSES = { "+": "added", "-": "removed", " ": "" } as const;
const MEANINGS = { "+": "Added", "-": "Removed", " ": "Test" } as const;

/** What a patch removes and adds, line by line. */
export function PatchDiff({ patch }: { patch: readonly Schemas["PatchOperation"][] }) {
  if (patch.length === 0) return <p class="soft">There are no changes.</p>;
  return (
    <ul class="diff" aria-label="Changes">
      {toPatchLines(patch).map(({ sign, text }, at) => (
        <li key={at} class={CLASSES[sign]}>
          <span aria-hidden="true">{sign}</span>
          <span class="visually-hidden">{MEANINGS[sign]}: </span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
