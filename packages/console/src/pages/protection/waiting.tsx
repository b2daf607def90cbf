import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { currentWho } from "../../session.ts";
import { describeSource } from "../deployment/source.tsx";
import { approvePath } from "./decisions.tsx";

type PendingApproval = Schemas["PendingApproval"];

/** The deployments of all projects that wait for the person's approval. */
export function useWaiting() {
  const isReadable = can("listPendingApprovals");
  const path = { org_id: currentWho().organization.id };
  return useList(isReadable ? "/v1/orgs/{org_id}/approvals" : undefined, { path }, "on").items;
}

export function WaitingForYou({ items }: { items: readonly PendingApproval[] }) {
  return (
    <Section title="Waiting for you">
      <ul class="list dense" aria-label="Waiting for you">
        {items.map((item) => (
          <li key={item.deployment_id} class="list-item">
            <WaitingApproval approval={item} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function WaitingApproval({ approval }: { approval: PendingApproval }) {
  const { deployment_id, project_name, environment_name, source, message } = approval;
  return (
    <>
      <span>
        <Status of="queued" />{" "}
        <a href={approvePath(deployment_id)}>
          {joinNames([project_name, environment_name], " / ")}
        </a>{" "}
        <span class="soft small">
          {describeSource(source)} · <bdi>{showHidden(message)}</bdi>{" "}
          <TimeAfter words="Expires" at={approval.expires_at} />
        </span>
      </span>
      <Time at={approval.created_at} />
    </>
  );
}
