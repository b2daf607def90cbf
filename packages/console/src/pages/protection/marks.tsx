import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { describeConditions, openConditions } from "./decisions.tsx";
import { useMemberName } from "./members.ts";

type Deployment = Schemas["Deployment"];

interface MarksProps {
  deployment: Deployment;
  projectId: string | undefined;
}

/** Notes: a rule canceled the deployment, or somebody overrode rules. */
export function Marks({ deployment, projectId }: MarksProps) {
  const { status, failure_reason, message, overridden } = deployment;
  return (
    <>
      {status !== "failed" && failure_reason !== undefined && (
        <p class="note attention">
          Deployment canceled: {humanize(failure_reason).toLowerCase()}.{" "}
          {message !== undefined && <bdi>{showHidden(message)}</bdi>}
        </p>
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
  return (
    <div class="note attention">
      <p>
        Overridden by <bdi>{name}</bdi> <Time at={created_at} />: {describeConditions(conditions)}.
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
