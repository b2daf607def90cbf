import { can } from "../../access.ts";
import { LogView } from "../../log-view/log-view.tsx";
import { queryOf } from "../../router.ts";
import type { DeploymentTabProps } from "../tabs.ts";
import { StackList } from "./stack-list.tsx";
import { failedStacksOf } from "./stack-states.ts";

export function LogTab({ deployment, stacks, reload }: DeploymentTabProps) {
  const { id, status } = deployment;
  return (
    <div class="with-side">
      <StackList deployment={deployment} stacks={stacks} />
      {can("readLog", "viewer") && (
        <section aria-label="Log">
          <LogView
            deploymentId={id}
            stackNames={new Map(stacks?.map((stack) => [stack.id, stack.name]))}
            stackId={queryOf("stack")}
            failedStackIds={
              status === "failed" ? failedStacksOf(deployment).map((stack) => stack.id) : undefined
            }
            onStatus={reload}
          />
        </section>
      )}
    </div>
  );
}
