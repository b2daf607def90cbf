import { Section } from "../../components/page.tsx";
import { showHidden } from "../../format.ts";
import { OutputTable } from "../stack/stack-page.tsx";
import type { DeploymentTabProps } from "../tabs.ts";

/** The outputs of its stacks. A later success may have replaced them. */
export function OutputsTab({ deployment, stacks = [], neighbors }: DeploymentTabProps) {
  const own = stacks.filter(({ id, outputs }) => outputs && deployment.stack_ids.includes(id));
  if (own.length === 0) return <p class="soft">Its stacks have reported no outputs.</p>;
  return (
    <div class="stack loose">
      {!neighbors.isLive && (
        <p class="soft">
          These are from the newest success of each stack, not from this deployment.
        </p>
      )}
      {own.map(({ id, name, outputs = {} }) => (
        <Section key={id} title={showHidden(name)}>
          <OutputTable outputs={outputs} />
        </Section>
      ))}
    </div>
  );
}
