import type { Session } from "../../cli/src/session.ts";
import { ApiError, type Schemas } from "../../client/src/index.ts";

type Deployment = Schemas["Deployment"];
type Source = Schemas["DeploymentSourceInput"];

const PATH = "/v1/environments/{environment_id}/deployments";

/**
 * The newest success of the environment, if to deploy the source again would change nothing: neither stacks, nor the
 * configuration, nor variables, nor the queue. Undefined if the key may not read what that depends on.
 * @param stackIds Undefined: all.
 */
export async function findUnchanged(
  { client }: Session,
  environmentId: string,
  source: Source,
  stackIds: readonly string[],
): Promise<Deployment | undefined> {
  try {
    const path = { environment_id: environmentId };
    const { data } = await client.get(PATH, { path, query: { status: ["succeeded"], limit: 1 } });
    const [newest] = data;
    if (!newest || !isSame(source, newest.data.source)) return undefined;
    if (!stackIds.every((id) => newest.stack_ids.includes(id))) return undefined;
    const preview = await client.get("/v1/deployments/{deployment_id}/redeployment", {
      path: { deployment_id: newest.id },
    });
    const { patch = [], changed_variables = [], superseded_ids, waiting_for = [] } = preview;
    const isBehind = waiting_for.some(({ code }) => code === "deployment");
    const changes = patch.length + changed_variables.length + superseded_ids.length;
    return changes > 0 || isBehind ? undefined : newest;
  } catch (error) {
    if (error instanceof ApiError && error.code === "unauthorized") return undefined;
    throw error;
  }
}

function isSame(source: Source, deployed: Schemas["DeploymentSource"] | undefined): boolean {
  return JSON.stringify(identityOf(source)) === JSON.stringify(identityOf(deployed));
}

/** What decides about what runs. Not the branch: two may have the same commit. */
function identityOf({ git, registry }: Source = {}) {
  const repository = git?.provider === "git" ? git.url : `${git?.owner}/${git?.repo}`.toLowerCase();
  return [git?.provider, git && repository, git?.commit.sha, registry?.image, registry?.command];
}
