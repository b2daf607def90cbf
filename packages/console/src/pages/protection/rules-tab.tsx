import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { client, type Schemas } from "../../api.ts";
import { Command } from "../../components/copy.tsx";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { EditJson } from "../../components/edit-json.tsx";
import { Pending } from "../../components/list.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { TimeAfter } from "../../components/time.tsx";
import { readVersion, useList, useQuery } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";
import { useMembers } from "./members.ts";
import { describeRules } from "./rules.ts";

const PROTECTION = "/v1/environments/{environment_id}/protection" as const;

/** The rules of an environment. */
export function RulesTab({ environment, can }: EnvironmentTabProps) {
  const { id, project_id } = environment;
  const path = { environment_id: id };
  const { data, error, reload } = useQuery(PROTECTION, { path }, "on");
  const mayEdit = can("replaceProtection");
  return (
    <div class="stack loose">
      <Section
        title="Rules"
        actions={
          mayEdit && (
            <PageButtons
              reload={reload}
              buttons={[
                {
                  verb: "Edit the rules",
                  inPalette: "Edit the rules",
                  dialog: (props) => <EditRules path={path} {...props} />,
                },
              ]}
            />
          )
        }
      >
        <p class="soft">
          Who deploys here, and what a deployment needs before it starts. Runs that have started go
          on. <a href={`${ROOT}projects/${project_id}/freezes`}>Freezes</a> hold deployments, too.
        </p>
        {data ? <Rules rules={data} projectId={project_id} /> : <Pending error={error} />}
      </Section>
      {mayEdit && data && !data.approvals && (
        <Section title="Begin with approvals">
          <p>
            With the command line, so that an owner approves each deployment, and never one of their
            own. <a href="/docs/guides/protection">Five common set-ups</a>
          </p>
          <Command text={`${RUN_CLI} protect ${id} --approvals 1 --by owners`} />
        </Section>
      )}
    </div>
  );
}

interface RulesProps {
  rules: Schemas["EnvironmentProtection"];
  projectId: string;
}

function Rules({ rules, projectId }: RulesProps) {
  const members = useMembers(projectId);
  const environments = useList("/v1/projects/{project_id}/environments", {
    path: { project_id: projectId },
  });
  const named = [...(members.data ?? []), ...(environments.items ?? [])];
  const nameOf = (id: string) => named.find((each) => each.id === id)?.name ?? id;
  return (
    <>
      <Facts areSentences facts={describeRules(rules, nameOf)} />
      <p class="soft small">
        <TimeAfter words="Changed" at={rules.updated_at} />
      </p>
    </>
  );
}

interface EditRulesProps {
  path: { environment_id: string };
  onClose: () => void;
  reload: () => Promise<void>;
}

function EditRules({ path, ...dialog }: EditRulesProps) {
  return (
    <EditJson
      {...dialog}
      title="Edit the rules"
      label="Rules"
      hint={
        <>
          Deployments that wait keep the earlier rules, too.{" "}
          <a href="/docs/guides/protection" target="_blank" rel="noreferrer">
            What each rule does
          </a>
        </>
      }
      done="Rules saved."
      read={async () => {
        const { value, etag } = await readVersion(PROTECTION, path);
        const { environment_id: _, updated_at: __, approvers_verified_by: ___, ...rules } = value;
        return { value: rules, etag };
      }}
      save={(rules, ifMatch) =>
        client.put(PROTECTION, { path, body: rules as Schemas["ReplaceProtection"], ifMatch })
      }
    />
  );
}
