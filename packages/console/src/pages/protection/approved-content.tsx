import { listNames } from "../../../../cli/src/deployments/changed-variables.ts";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Facts, Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";
import { SourceChange } from "../deployment/source.tsx";

type Deployment = Schemas["Deployment"];

const DEPLOYMENTS = "/v1/environments/{environment_id}/deployments";

/** What a person reads before they approve it. */
export type Content = Awaited<ReturnType<typeof readContent>>;

/** Read once: what was shown is what is approved. */
export function useContent(deployment: Deployment, projectId: string) {
  return useReadOnce(() => readContent(deployment, projectId));
}

async function readContent({ id, environment_id }: Deployment, project_id: string) {
  const path = { deployment_id: id };
  const { digest, diff = [] } = await client.get("/v1/deployments/{deployment_id}/configuration", {
    path,
  });
  // After the digest: if one of these has changed since, the service refuses the approval.
  const inEnvironment = { path: { environment_id } };
  const [deployment, stacks, components, connection, successes] = await Promise.all([
    client.get("/v1/deployments/{deployment_id}", { path }),
    readAll("/v1/environments/{environment_id}/stacks", inEnvironment),
    readAll("/v1/environments/{environment_id}/components", inEnvironment),
    can("getConnection", "viewer")
      ? client.get("/v1/projects/{project_id}/connection", { path: { project_id } })
      : undefined,
    client.get(DEPLOYMENTS, {
      path: { environment_id },
      query: { status: ["succeeded"], limit: 1 },
    }),
  ]);
  const [live] = successes.data;
  const variables =
    live && can("previewRedeployment", "viewer") && (await readChangedVariables(live));
  return {
    ...{ deployment, digest, diff, stacks, components, connection, live },
    variables: variables || undefined,
  };
}

/** Undefined for a session that may not read their names. */
async function readChangedVariables({ id }: Deployment): Promise<string[] | undefined> {
  const path = { deployment_id: id };
  const preview = await client.get("/v1/deployments/{deployment_id}/redeployment", { path });
  return preview.changed_variables;
}

/** What runs now, and what would run. */
export function ApprovedContent({ content }: { content: Content }) {
  const { deployment, diff, stacks, components, connection, live, variables } = content;
  const nameOf = (id: string) => {
    const { name = id, component_id } = stacks.find((stack) => stack.id === id) ?? {};
    const component = components.find((each) => each.id === component_id);
    return component ? `${name} (${component.name})` : name;
  };
  const namesOf = (ids: readonly string[]) => joinNames(ids.map(nameOf), ", ");
  const newStacks = namesOf(deployment.stack_ids);
  const oldStacks = live && namesOf(live.stack_ids);
  return (
    <>
      <Section title="Source">
        <SourceChange before={live} after={deployment} titles={["Now", "New"]} />
      </Section>
      <Section title="Configuration">
        <PatchDiff patch={diff} />
      </Section>
      <Facts
        facts={[
          ["Stacks", newStacks],
          oldStacks !== undefined && oldStacks !== newStacks && ["Stacks now", oldStacks],
          connection && ["Connection", describeConnection(connection)],
          variables && [
            "Changed variables",
            variables.length > 0 ? <code>{showHidden(listNames(variables))}</code> : "None",
          ],
        ]}
      />
    </>
  );
}

/** Such as "aws · 123456789012 · eu-west-1". */
function describeConnection(connection: Schemas["Connection"]): string {
  const values = Object.entries(connection).filter(([name]) => name !== "external_id");
  return showHidden(values.map(([, value]) => value).join(" · "));
}
