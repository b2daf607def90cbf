import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { currentWho } from "../../session.ts";
import { describeSource } from "../deployment/source.tsx";
import { approvePath } from "./decisions.tsx";

/** The deployments of all projects that wait for the person's approval. */
export function useWaiting() {
  const isReadable = can("listPendingApprovals");
  const path = { org_id: currentWho().organization.id };
  return useList(isReadable ? "/v1/orgs/{org_id}/approvals" : undefined, { path }, "on").items;
}

export function WaitingForYou({ items }: { items: readonly Schemas["PendingApproval"][] }) {
  return (
    <Section title="Waiting for you">
      <ul class="list" aria-label="Waiting for you">
        {items.map((item) => (
          <li key={item.deployment_id} class="list-item">
            <span>
              <a href={approvePath(item.deployment_id)}>
                {joinNames([item.project_name, item.environment_name], " / ")}
              </a>{" "}
              <span class="soft small">{describeSource(item.source)}</span>
              <p class="soft small">
                <bdi>{showHidden(item.message)}</bdi>{" "}
                <TimeAfter words="Expires" at={item.expires_at} />
              </p>
            </span>
            <Time at={item.created_at} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
