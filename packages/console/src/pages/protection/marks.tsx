import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { describeCondition, openConditions } from "./decisions.tsx";
import { useMemberName } from "./members.ts";

type Deployment = Schemas["Deployment"];

interface MarksProps {
  deployment: Deployment;
  projectId: string | undefined;
}

/** Why it has failed, or was canceled by a rule; and that somebody has overridden rules. */
export function Marks({ deployment, projectId }: MarksProps) {
  const { status, failure_reason, message, overridden } = deployment;
  const isBad = status === "failed";
  return (
    <>
      {(isBad || failure_reason !== undefined) && (
        <div class={`note ${isBad ? "bad" : "attention"}`}>
          <p>
            The deployment {isBad ? "failed" : "was canceled"}
            {failure_reason !== undefined && `: ${humanize(failure_reason).toLowerCase()}`}.{" "}
            {message !== undefined && <bdi>{showHidden(message)}</bdi>}
          </p>
          {isBad && <p>The stacks and the log have the details.</p>}
        </div>
      )}
      {overridden && <Overridden overridden={overridden} projectId={projectId} />}
    </>
  );
}

interface OverriddenProps {
  overridden: NonNullable<Deployment["overridden"]>;
  projectId: string | undefined;
}

function Overridden({ overridden, projectId }: OverriddenProps) {
  const { conditions, reason, membership_id, created_at } = overridden;
  const name = useMemberName(membership_id, projectId);
  const what = conditions.map((code) => describeCondition(code).toLowerCase()).join(", ");
  return (
    <div class="note attention">
      <p>
        Overridden by <bdi>{name}</bdi> <Time at={created_at} />: {what}.
      </p>
      <p>{showHidden(reason)}</p>
    </div>
  );
}

/** Who has approved or rejected it. */
export function Approvals({ deployment }: { deployment: Deployment }) {
  const isOpen = openConditions(deployment).includes("approvals");
  const { items = [] } = useList(
    can("listApprovals", "viewer") ? "/v1/deployments/{deployment_id}/approvals" : undefined,
    { path: { deployment_id: deployment.id } },
    isOpen ? "on" : "off",
  );
  if (items.length === 0) return null;
  return (
    <Section title="Approvals">
      <ul class="list" aria-label="Approvals">
        {items.map(({ id, name, membership_id, decision, comment, created_at }) => (
          <li key={id}>
            <div class="list-item">
              <span>{showHidden(name ?? membership_id)}</span>
              <span class="row">
                <Status of={decision === "approve" ? "approved" : "rejected"} />
                <Time at={created_at} />
              </span>
            </div>
            {comment !== undefined && <p>{showHidden(comment)}</p>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
