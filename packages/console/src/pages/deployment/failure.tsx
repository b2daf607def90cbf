import type { ComponentChildren } from "preact";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { LinkButton } from "../../components/button.tsx";
import { humanize, joinNames, showHidden } from "../../format.ts";
import { TO_ERROR } from "../../log-view/log-view.tsx";
import { ROOT } from "../../router.ts";
import type { DeploymentTabProps } from "../tabs.ts";
import { failedStacksOf, reasonOf } from "./stack-states.ts";

interface FailureProps extends Pick<DeploymentTabProps, "deployment" | "stacks"> {
  /** The buttons that mend it. */
  children: ComponentChildren;
}

/** Which stack failed and why, and what to do. */
export function Failure({ deployment, stacks, children }: FailureProps) {
  return (
    <section class="note bad stack" aria-label="Failure">
      <p>
        <bdi>{describeFailure(deployment, stacks)}</bdi>
      </p>
      <div class="row">
        {can("readLog", "viewer") && (
          <LinkButton kind="primary" href={`${ROOT}deployments/${deployment.id}${TO_ERROR}`}>
            View error
          </LinkButton>
        )}
        {children}
      </div>
    </section>
  );
}

/** Such as "web failed: The name is taken." */
function describeFailure(
  deployment: Schemas["Deployment"],
  stacks: DeploymentTabProps["stacks"] = [],
): string {
  const { failure_reason } = deployment;
  const nameOf = (id: string) => stacks.find((stack) => stack.id === id)?.name ?? id;
  const failed = failedStacksOf(deployment).map(({ id }) => nameOf(id));
  const who = joinNames(failed, ", ") || "The deployment";
  const [why = ""] = (reasonOf(deployment) ?? humanize(failure_reason ?? "")).split("\n");
  return `${who} failed${why ? `: ${showHidden(why)}` : "."}`;
}
