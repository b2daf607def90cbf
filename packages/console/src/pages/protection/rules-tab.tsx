import { useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { Pending } from "../../components/list.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { TimeAfter } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList, useQuery, useReadOnce } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { Waiting } from "../deployment/waiting.tsx";
import type { EnvironmentTabProps } from "../tabs.ts";
import { stateOf } from "./freezes.ts";
import { useMembers } from "./members.ts";
import { describeRules } from "./rules.ts";
import { PROTECTION, RulesEditor } from "./rules-editor.tsx";

/** The rules of an environment: for those who may change them, a form. */
export function RulesTab({ environment, can }: EnvironmentTabProps) {
  const [saves, setSaves] = useState(0);
  return (
    <div class="beside">
      <Section title="Rules">
        <p class="soft">
          Who deploys here, and what a deployment needs before it starts. Running deployments
          continue. <a href="/docs/guides/protection">Five common set-ups</a>
        </p>
        {can("replaceProtection") ? (
          <RulesEditor
            key={saves}
            environment={environment}
            onClose={() => setSaves((count) => count + 1)}
          />
        ) : (
          <Rules environment={environment} />
        )}
      </Section>
      <aside class="stack loose">
        {can("previewDeployment") && <IfDeployedNow key={saves} id={environment.id} />}
        <Freezes environment={environment} />
      </aside>
    </div>
  );
}

function Rules({ environment }: { environment: Schemas["Environment"] }) {
  const { id, project_id } = environment;
  const { data, error } = useQuery(PROTECTION, { path: { environment_id: id } }, "on");
  const members = useMembers(project_id);
  const environments = useList("/v1/projects/{project_id}/environments", { path: { project_id } });
  if (!data) return <Pending error={error} />;
  const named = [...(members.data ?? []), ...(environments.items ?? [])];
  const nameOf = (each: string) => named.find((one) => one.id === each)?.name ?? each;
  return (
    <>
      <Facts areSentences facts={describeRules(data, nameOf)} />
      <p class="soft small">
        <TimeAfter words="Changed" at={data.updated_at} />
      </p>
    </>
  );
}

/** What a deployment without any changes would wait for, by the rules that are saved. */
function IfDeployedNow({ id }: { id: string }) {
  const { data, error } = useReadOnce(() =>
    client.post("/v1/environments/{environment_id}/deployment-preview", {
      path: { environment_id: id },
      body: {},
    }),
  );
  return (
    <Section title="If you deployed now">
      {!data ? (
        <Pending error={error} lines={2} />
      ) : data.waiting_for.length === 0 ? (
        <p>It would start at once.</p>
      ) : (
        <Waiting reasons={data.waiting_for} />
      )}
    </Section>
  );
}

/** The current and coming freezes of the environment, of its project and of all projects. */
function Freezes({ environment }: { environment: Schemas["Environment"] }) {
  const { id, project_id } = environment;
  const ofOrganization = useList("/v1/orgs/{org_id}/freezes", {
    path: { org_id: currentWho().organization.id },
  });
  const ofProject = useList("/v1/projects/{project_id}/freezes", { path: { project_id } });
  const lists = [
    { list: ofProject, href: `${ROOT}projects/${project_id}/freezes` },
    { list: ofOrganization, href: `${ROOT}organization/freezes` },
  ];
  const freezes = lists
    .flatMap(({ list, href }) => (list.items ?? []).map((freeze) => ({ freeze, href })))
    .filter(({ freeze: { environment_ids: ids } }) => ids?.includes(id) ?? true)
    .filter(({ freeze }) => stateOf(freeze) !== "over")
    .toSorted((a, b) => Date.parse(a.freeze.starts_at) - Date.parse(b.freeze.starts_at));
  const unread = lists.find(({ list }) => !list.items);
  return (
    <Section title="Freezes">
      {unread ? (
        <Pending error={unread.list.error} lines={2} />
      ) : freezes.length === 0 ? (
        <p class="soft">
          No freeze is active or planned.{" "}
          <a href={`${ROOT}projects/${project_id}/freezes`}>Project freezes</a>
        </p>
      ) : (
        <ul class="list dense" aria-label="Freezes">
          {freezes.map(({ freeze, href }) => (
            <li key={freeze.id} class="list-item">
              <span>
                <a href={href}>{showHidden(freeze.name)}</a>
                <br />
                <span class="soft small">
                  {stateOf(freeze) === "active" ? (
                    <TimeAfter words="Ends" at={freeze.ends_at} />
                  ) : (
                    <TimeAfter words="Begins" at={freeze.starts_at} />
                  )}
                </span>
              </span>
              <Status of={stateOf(freeze)} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
