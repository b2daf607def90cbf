import type { Schemas } from "../../api.ts";
import { Facts } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { formatCount, joinNames, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { SourceDetails } from "./source.tsx";
import { WouldWait } from "./waiting.tsx";

interface PreviewProps {
  preview: Schemas["DeploymentPreview"];
}

/** What a deployment would do, and why it would be refused. */
export function Preview({ preview }: PreviewProps) {
  const { error, patch } = preview;
  return (
    <>
      {error && (
        <div class="note attention">
          <p>{showHidden(error.message)}</p>
        </div>
      )}
      {(patch || !error) && <Content preview={preview} />}
    </>
  );
}

function Content({ preview }: PreviewProps) {
  const { environment_id, patch = [], source, stack_ids, superseded_ids } = preview;
  const path = { environment_id };
  const { items } = useList("/v1/environments/{environment_id}/stacks", { path });
  const nameOf = (id: string) => items?.find((stack) => stack.id === id)?.name ?? id;
  return (
    <>
      <Facts
        facts={[
          ["Source", <SourceDetails key="source" source={source} />],
          [
            "Stacks",
            items ? joinNames(stack_ids.map(nameOf), ", ") : formatCount(stack_ids.length, "stack"),
          ],
          superseded_ids.length > 0 && [
            "Supersedes",
            superseded_ids.map((id) => (
              <div key={id}>
                <a href={`${ROOT}deployments/${id}`}>
                  <code>{id}</code>
                </a>
              </div>
            )),
          ],
        ]}
      />
      <WouldWait preview={preview} />
      <PatchDiff patch={patch} />
    </>
  );
}
